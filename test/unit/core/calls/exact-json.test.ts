import { expect, test } from 'vitest';
import { isExactNumber, parseExactJson } from '../../../../src/core/calls/exact-json.ts';

test.each([
  '9007199254740993',
  '-9007199254740993',
  '123456789012345678901234567890',
  '1e400',
  '-1E+400',
  '1e16',
  '9007199.254740993e9',
])('[S6] The number %s is kept as it was written, in every position', (source) => {
  const text = `{"a":[${source},{"b":${source}}],"c":${source}}`;
  expect(JSON.stringify(parseExactJson(text))).toBe(text);
  expect(isExactNumber(Object(parseExactJson(source)))).toBe(true);
});

test.each([
  ['9007199254740991', 9007199254740991],
  ['-9007199254740991', -9007199254740991],
  ['0.30000000000000004', 0.30000000000000004],
  ['-0', -0],
  ['1e15', 1e15],
])('[S6] The number %s is an ordinary number', (source, value) => {
  expect(parseExactJson(source)).toBe(value);
});

test('[S6] The last value of a repeated key counts, next to a large number too', () => {
  expect(JSON.stringify(parseExactJson('{"a":1,"b":9007199254740993,"a":2}'))).toBe('{"a":2,"b":9007199254740993}');
});

test('[S6] A lone surrogate does not change', () => {
  expect(JSON.stringify(parseExactJson('"\\ud800"'))).toBe('"\\ud800"');
});

test('[X19] The key __proto__ is data, next to a large number too', () => {
  const text = '{"__proto__":{"x":9007199254740993},"constructor":1}';
  expect(JSON.stringify(parseExactJson(text))).toBe(text);
});

test('[S6] A text that looks like a large number stays a text', () => {
  const text = '{"card":"4111111111111111","date":"2026-01-02"}';
  expect(JSON.stringify(parseExactJson(text))).toBe(text);
});
