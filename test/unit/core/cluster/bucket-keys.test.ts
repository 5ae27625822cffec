import { describe, expect, test } from 'vitest';
import { keyPart, textOfPart } from '../../../../src/core/cluster/bucket-keys.ts';

describe('keys of buckets', () => {
  test.each(['a', 'orders::place', 'Zürich.*>', '\n \u0000', 'x'.repeat(120), ''])(
    '[CL5] %j can be read back',
    (text) => {
      const { part, isDigest } = keyPart(text);
      expect(isDigest).toBe(false);
      expect(part).toMatch(/^[A-Za-z0-9_-]*$/);
      expect(textOfPart(part)).toBe(text);
    },
  );

  test('[CL5] a text of more than 120 bytes is a digest, of the same length for every text', () => {
    const [one, other] = ['x'.repeat(121), `${'é'.repeat(60)}z`].map(keyPart);
    expect([one?.isDigest, other?.isDigest]).toEqual([true, true]);
    expect(one?.part).not.toBe(other?.part);
    expect(one?.part).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});
