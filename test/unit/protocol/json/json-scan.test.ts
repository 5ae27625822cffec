import { describe, expect, test } from 'vitest';
import { JSON_DEPTH_MAX } from '../../../../src/protocol/frames/limits.ts';
import { offenceAt, skipValue } from '../../../../src/protocol/json/json-scan.ts';
import { damage, nestingOf, randomJson } from '../../../support/random/json-texts.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

describe('the end of a value', () => {
  test('[wire 1.5] A value ends at its own end, whatever bytes follow', () => {
    forEachSeed(2000, (random) => {
      const value = randomJson(random);
      const rest = random.pick([',', '}', ']', ' ', '\n', '"', 'x', '']);
      const bytes = encode(`  ${value}${rest}`);
      expect(skipValue(bytes, 2, 0), `${value}${rest}`).toBe(2 + encode(value).length);
    });
  });

  test('[wire 1.5] A value is read to its end exactly if it is valid JSON', () => {
    forEachSeed(5000, (random) => {
      const bytes = damage(random, encode(randomJson(random)));
      const start = bytes.findIndex((byte) => ![0x20, 0x09, 0x0a, 0x0d].includes(byte));
      const end = skipValue(bytes, Math.max(start, 0), 0);
      const isWhole = end >= 0 && /^[ \t\r\n]*$/.test(Buffer.from(bytes.subarray(end)).toString('latin1'));
      expect(isWhole, JSON.stringify(Buffer.from(bytes).toString('latin1'))).toBe(isJson(bytes));
    });
  });
});

describe('bytes that are not JSON', () => {
  test.each([
    ['', 0],
    ['nul', 3],
    ['nulL', 3],
    ['tru', 3],
    ['falsy', 4],
    ['undefined', 0],
    ['NaN', 0],
    ['Infinity', 0],
    ['-', 1],
    ['-x', 1],
    ['+1', 0],
    ['.5', 0],
    ['1.', 2],
    ['1.x', 2],
    ['1e', 2],
    ['1e+', 3],
    ["'a'", 0],
    ['"a', 2],
    ['"\u0001"', 1],
    ['"\t"', 1],
    ['"\\', 2],
    ['"\\x"', 2],
    ['"\\u12', 5],
    ['"\\u12g4"', 5],
    ['[', 1],
    ['[1', 2],
    ['[1,]', 3],
    ['[,1]', 1],
    ['[1 2]', 3],
    ['{', 1],
    ['{a:1}', 1],
    ['{"a"}', 4],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['{,}', 1],
    ['//x', 0],
    ['\u00a01', 0],
    ['\ufeff1', 0],
  ])('[wire 1.5] %j is refused at byte %d', (text, at) => {
    const result = skipValue(encode(text), 0, 0);
    expect(result).toBeLessThan(0);
    expect(offenceAt(result)).toBe(at);
  });

  test('[wire 1.5] A number with a leading zero ends after the zero', () => {
    expect(skipValue(encode('01'), 0, 0)).toBe(1);
    expect(skipValue(encode('-01'), 0, 0)).toBe(2);
  });
});

describe('nesting', () => {
  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('[guarantees 4] %s are accepted 128 levels deep, and refused at the 129th', (_kind, open, close) => {
    const nested = (levels: number) => encode(open.repeat(levels) + (open === '[' ? '' : '1') + close.repeat(levels));
    for (const levels of [1, 127, 128]) expect(skipValue(nested(levels), 0, 0)).toBe(nested(levels).length);
    const result = skipValue(nested(129), 0, 0);
    expect(offenceAt(result)).toBe(open.length * JSON_DEPTH_MAX);
  });

  test('[guarantees 4] Adjacent lists do not add up', () => {
    const text = `[${Array.from({ length: 1000 }, () => '[[]]').join(',')}]`;
    expect(skipValue(encode(text), 0, 0)).toBe(text.length);
  });

  test('[fault 41] A text of opening brackets is refused at the 129th, at any length', () => {
    const bytes = new Uint8Array(4_000_000).fill(0x5b);
    expect(offenceAt(skipValue(bytes, 0, 0))).toBe(JSON_DEPTH_MAX);
  });
});

function isJson(bytes: Uint8Array): boolean {
  try {
    return nestingOf(JSON.parse(Buffer.from(bytes).toString('utf8'))) <= JSON_DEPTH_MAX;
  } catch {
    // Not JSON: that is the answer.
    return false;
  }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
