// Drop-in mode only: the peer's users expect `_caller_worker_id` inside the payload of every call (decisions 8).

import { asRawJson, parseRawJson, type RawJson, rawJson } from '../protocol/byte-string.ts';
import { locateMembers } from '../protocol/envelope.ts';

const KEY = '_caller_worker_id';

/** The payload with the caller's id, overwriting one that the caller made up. Payloads that are no objects stay. */
export function withCallerId(data: RawJson, workerId: string | undefined): RawJson {
  if (workerId === undefined || !data.startsWith('{')) return data;
  const member = `"${KEY}":${rawJson(workerId)}`;
  // The caller may have set the key itself, in some spelling: only then the object is taken apart.
  const rest = data.includes(KEY) || data.includes('\\u') ? membersButKey(data) : data.slice(1, -1);
  return asRawJson(`{${member}${/^\s*$/.test(rest) ? '' : ','}${rest}}`);
}

/** All other members of the object, byte for byte: the values are the user's, and a number must keep its digits. */
function membersButKey(data: RawJson): string {
  const places = locateMembers(Buffer.from(data, 'latin1'));
  if (!(places instanceof Int32Array)) throw new Error(`A checked payload is no object: ${places.reason}`);
  const members: string[] = [];
  for (let at = 0; at < places.length; at += 4) {
    const [keyStart = 0, keyEnd = 0, , end = 0] = places.subarray(at, at + 4);
    const key = parseRawJson(asRawJson(data.slice(keyStart - 1, keyEnd + 1)));
    if (key !== KEY) members.push(data.slice(keyStart - 1, end));
  }
  return members.join(',');
}
