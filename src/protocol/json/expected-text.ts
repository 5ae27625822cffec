// The finding of a compiled validator in words for the sender of the value, who does not know the names of our types.

/** `must be string, found number`. `expected` is the validator's, such as `(Array<string> | null | undefined)`. */
export function mismatchText(expected: string, value: unknown): string {
  const wanted = expectedText(expected);
  const found = foundText(value);
  return wanted === found ? `must be ${wanted} of another shape` : `must be ${wanted}, found ${found}`;
}

/** Omits null and undefined from the alternatives: they cannot have caused the mismatch. */
function expectedText(expected: string): string {
  const kinds = unionMembers(expected).map(kindOf);
  const named = [...new Set(kinds)].filter((kind) => kind !== 'absent' && kind !== 'null');
  if (named.length > 0) return named.join(' or ');
  return kinds.includes('null') ? 'null' : 'absent';
}

/** The members of `(a | b)`. A list of types inside one always has brackets of its own. */
function unionMembers(expected: string): string[] {
  return expected.startsWith('(') && expected.endsWith(')') ? expected.slice(1, -1).split(' | ') : [expected];
}

function kindOf(type: string): string {
  if (type === 'undefined' || type === 'never') return 'absent';
  if (PLAIN.has(type) || type.startsWith('"')) return type;
  return LIST.test(type) ? 'array' : 'object';
}

const PLAIN: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'null', 'true', 'false']);
const LIST = /^(Readonly)?Array<|^(readonly )?\[/;

function foundText(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
