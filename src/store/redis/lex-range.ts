// Bounds of names in byte order, in the form of Redis: '-' and '+' for none, '[' includes the name, '(' excludes it.

export interface LexRange {
  readonly from: string | Buffer;
  readonly to: string | Buffer;
}

/** Names that begin with `prefix` and come after `after`, where these are given. */
export function namesWhere(prefix: Buffer | undefined, after: Buffer | undefined): LexRange {
  const isBehind = after !== undefined && (prefix === undefined || Buffer.compare(after, prefix) >= 0);
  const first = prefix === undefined ? '-' : Buffer.concat([WITH, prefix]);
  return {
    from: isBehind ? Buffer.concat([WITHOUT, after]) : first,
    // No UTF-8 text contains this byte.
    to: prefix === undefined ? '+' : Buffer.concat([WITHOUT, prefix, LAST]),
  };
}

const WITH = Buffer.from('[');
const WITHOUT = Buffer.from('(');
const LAST = Buffer.of(0xff);
