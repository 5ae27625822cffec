// Drop-in mode only: users of `iii` expect the caller's id inside the payload of every call (PD-8).

import { locateMembers } from '../../protocol/frames/envelope.ts';
import { asRawJson, parseRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { CallRequest } from '../context.ts';

const KEY = '_caller_worker_id';

export function dataWithCaller({ data, from }: Pick<CallRequest, 'data' | 'from'>): Payload | undefined {
  const text = data?.asText();
  return text === undefined ? data : Payload.ofText(withCallerId(text, from?.workerId));
}

/**
 * The payload with the caller's id, which overwrites one that the caller wrote. Payloads that are not objects stay
 * unchanged.
 */
export function withCallerId(data: RawJson, workerId: string | undefined): RawJson {
  if (workerId === undefined || !data.startsWith('{')) return data;
  const member = `"${KEY}":${rawJson(workerId)}`;
  // The caller may have set the key itself, in any spelling. Only then the object is parsed.
  const rest = data.includes(KEY) || data.includes('\\u') ? membersButKey(data) : data.slice(1, -1);
  return asRawJson(`{${member}${/^\s*$/.test(rest) ? '' : ','}${rest}}`);
}

/** All other members of the object, byte for byte: the values belong to the user, and a number must keep its digits. */
function membersButKey(data: RawJson): string {
  const ranges = locateMembers(Buffer.from(data, 'latin1'));
  if (!(ranges instanceof Int32Array)) throw new Error(`A checked payload is not an object: ${ranges.reason}`);
  const members: string[] = [];
  for (let at = 0; at < ranges.length; at += 4) {
    const [keyStart = 0, keyEnd = 0, , end = 0] = ranges.subarray(at, at + 4);
    const key = parseRawJson(asRawJson(data.slice(keyStart - 1, keyEnd + 1)));
    if (key !== KEY) members.push(data.slice(keyStart - 1, end));
  }
  return members.join(',');
}
