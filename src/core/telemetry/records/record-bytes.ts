// The approximate memory of a record: texts at two bytes a character, everything else by the piece. Limits in bytes are
// based on it; they protect the process and need not be exact.

import { JSON_DEPTH_MAX } from '../../../protocol/frames/limits.ts';

const PIECE_BYTES = 24;
const CHAR_BYTES = 2;

export function recordBytes(value: unknown, depth = 0): number {
  if (typeof value === 'string') return PIECE_BYTES + value.length * CHAR_BYTES;
  if (typeof value !== 'object' || value === null || depth > JSON_DEPTH_MAX) return CHAR_BYTES * 4;
  let bytes = PIECE_BYTES;
  if (Array.isArray(value)) {
    for (const item of value) bytes += recordBytes(item, depth + 1);
    return bytes;
  }
  for (const [key, item] of Object.entries(value)) {
    // All records of a kind share their field names; workers choose those of attributes.
    bytes += recordBytes(item, depth + 1) + (depth === 0 ? 0 : key.length * CHAR_BYTES);
  }
  return bytes;
}
