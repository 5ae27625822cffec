import { describe, expect, test } from 'vitest';
import { equalSecrets, systemRandom } from '../../../src/effects/random.ts';

describe('random ids', () => {
  test('[wire 2.1] They are unique version 4 UUIDs in lower case', () => {
    const ids = Array.from({ length: 100 }, () => systemRandom.uuid());
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  test('Tokens are unique and have 128 bits, across blocks of random bytes too', () => {
    const tokens = Array.from({ length: 3000 }, () => systemRandom.token());
    expect(new Set(tokens).size).toBe(3000);
    for (const token of tokens) expect(token).toMatch(/^[\da-f]{32}$/);
    const halves = new Set(tokens.flatMap((token) => [token.slice(0, 16), token.slice(16)]));
    expect(halves.size).toBe(6000);
  });
});

describe('comparing secrets', () => {
  test.each([
    ['', '', true],
    ['a', 'a', true],
    ['größer', 'größer', true],
    ['a', 'b', false],
    ['a', 'ab', false],
    ['', 'a', false],
    ['é', 'e\u0301', false],
    ['\ud800', '\ud801', true],
  ])('[X2] %j and %j are compared as a whole, byte by byte: %s', (given, expected, isEqual) => {
    expect(equalSecrets(given, expected)).toBe(isEqual);
  });
});
