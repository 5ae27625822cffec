// JSON values that stores and clients often treat differently (S6), and what every adapter must return. docs/state.md
// has the rule.

export interface JsonEdge {
  readonly name: string;
  /** The value as it is sent, and as it is returned. */
  readonly text: string;
  /** The returned form inside a value, after an update of another field. */
  readonly afterUpdate: string;
}

export const JSON_EDGES: readonly JsonEdge[] = [
  same('largest safe integer', '9007199254740991'),
  same('integer beyond 2^53', '9007199254740993'),
  same('negative integer beyond 2^53', '-9007199254740993'),
  same('integer of 40 digits', '1234567890123456789012345678901234567890'),
  same('larger than a double', '1e400'),
  same('smaller than a double', '-1e400'),
  { name: 'minus zero', text: '-0', afterUpdate: '0' },
  { name: 'repeated key', text: '{"a":1,"a":2}', afterUpdate: '{"a":2}' },
  same('half of a surrogate pair', '"\\ud800"'),
  { name: 'escaped letter', text: '"\\u0041"', afterUpdate: '"A"' },
  { name: 'white space within', text: '[ 1 , 2 ]', afterUpdate: '[1,2]' },
  { name: 'fraction with zeros', text: '1.50', afterUpdate: '1.5' },
  same('empty object', '{}'),
  same('null', 'null'),
  same('text beyond the basic plane', '"😀"'),
  same('key of prototypes', '{"__proto__":{"a":1},"constructor":2}'),
];

function same(name: string, text: string): JsonEdge {
  return { name, text, afterUpdate: text };
}
