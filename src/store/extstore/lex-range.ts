// Bounds of names in the order of their bytes, as Redis wants them: '-' and '+' for none, '[' with the name, '('
// without it.

export interface LexRange {
  readonly from: string | Buffer;
  readonly to: string | Buffer;
}

/** Names that begin with `prefix` and come behind `after`, as far as these are given. */
export function namesWhere(prefix: Buffer | undefined, after: Buffer | undefined): LexRange {
  const isBehind = after !== undefined && (prefix === undefined || Buffer.compare(after, prefix) >= 0);
  const first = prefix === undefined ? '-' : Buffer.concat([WITH, prefix]);
  return {
    from: isBehind ? Buffer.concat([WITHOUT, after]) : first,
    // No UTF-8 text holds this byte.
    to: prefix === undefined ? '+' : Buffer.concat([WITHOUT, prefix, LAST]),
  };
}

const WITH = Buffer.from('[');
const WITHOUT = Buffer.from('(');
const LAST = Buffer.of(0xff);
