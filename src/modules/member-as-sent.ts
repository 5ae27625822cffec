// A value from the payload of an engine function, passed on as it was written, so that it arrives digit for digit.

import type { RawJson } from '../protocol/json/byte-string.ts';
import { rawMember } from '../protocol/json/json-member.ts';
import type { Payload } from '../protocol/payload/payload.ts';

/** `undefined` if there is none. */
export function memberAsSent(sent: Payload | undefined, name: string): RawJson | undefined {
  const text = sent?.asText();
  return text === undefined ? undefined : rawMember(text, name);
}
