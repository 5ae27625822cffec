// What a queue reads from a payload: the group of a FIFO job (F5), and the priority if a field holds it.

import { locateMembers } from '../../../protocol/frames/envelope.ts';
import { digest } from './keys.ts';

export type GroupValue =
  | { readonly ok: true; readonly digest: string }
  /** The wording of wire 5.4. */
  | { readonly ok: false; readonly message: string };

/** The value may be any scalar of JSON; `1` and `"1"` are two groups, `1` and `1.0` are one. */
export function readGroup(queue: string, field: string, payload: Uint8Array): GroupValue {
  const json = memberOf(payload, field);
  if (json === undefined) {
    return { ok: false, message: `FIFO queue '${queue}' requires field '${field}' in data, but it was not found` };
  }
  if (json === 'null') return { ok: false, message: `FIFO queue '${queue}': field '${field}' must not be null` };
  if (json.startsWith('{') || json.startsWith('[')) {
    const found = json.startsWith('{') ? 'an object' : 'an array';
    const text = `field '${field}' must be a text, a number or a boolean, found ${found}`;
    return { ok: false, message: `FIFO queue '${queue}': ${text}` };
  }
  const value: unknown = JSON.parse(json);
  // Numbers that a double cannot hold stay apart by their digits.
  const isExact = typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(json);
  return { ok: true, digest: digest(isExact ? JSON.stringify(value) : json).toString('hex') };
}

/** The group of a job as JSON, for listings. */
export function groupOf(payload: Uint8Array, field: string | undefined): { readonly group?: string } {
  const json = field === undefined ? undefined : memberOf(payload, field);
  return json === undefined ? {} : { group: json };
}

/** Returns 0 for anything but a whole number from 0 to 255: a payload is not refused for its priority. */
export function readPriority(field: string, payload: Uint8Array): number {
  const value = Number(memberOf(payload, field) ?? 0);
  return Number.isInteger(value) && value > 0 ? Math.min(value, 255) : 0;
}

/** Of two equal members the last counts. */
function memberOf(payload: Uint8Array, field: string): string | undefined {
  const ranges = locateMembers(payload);
  if (!(ranges instanceof Int32Array)) return undefined;
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
  for (let at = ranges.length - 4; at >= 0; at -= 4) {
    const key = text.toString('utf8', (ranges[at] ?? 0) - 1, (ranges[at + 1] ?? 0) + 1);
    if (JSON.parse(key) === field) return text.toString('utf8', ranges[at + 2], ranges[at + 3]);
  }
  return undefined;
}
