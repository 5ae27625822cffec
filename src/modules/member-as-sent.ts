// A value that a function of the engine hands on, out of its own payload: as it was written, so that it arrives digit
// for digit.

import type { RawJson } from '../protocol/byte-string.ts';
import { rawMember } from '../protocol/json-member.ts';
import type { Payload } from '../protocol/payload.ts';

/** `undefined` where there is none. */
export function memberAsSent(sent: Payload | undefined, name: string): RawJson | undefined {
  const text = sent?.asText();
  return text === undefined ? undefined : rawMember(text, name);
}
