// About how much memory a record takes: texts at two bytes a character, everything else by the piece. Limits in bytes
// go by it; they protect the process, they do not bill anybody.

const PIECE_BYTES = 24;
const CHAR_BYTES = 2;
/** Nothing that is stored is deeper; deeper parts count as nothing. */
const DEPTH_MAX = 8;

export function recordBytes(value: unknown, depth = 0): number {
  if (typeof value === 'string') return PIECE_BYTES + value.length * CHAR_BYTES;
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return CHAR_BYTES * 4;
  let bytes = PIECE_BYTES;
  if (Array.isArray(value)) {
    for (const item of value) bytes += recordBytes(item, depth + 1);
    return bytes;
  }
  // The names of fields are shared by all records of a kind, but not those of attributes: a small sum either way.
  for (const item of Object.values(value)) bytes += recordBytes(item, depth + 1);
  return bytes;
}
