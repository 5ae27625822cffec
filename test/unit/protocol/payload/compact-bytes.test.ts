// The bytes of the compact form: the vectors that docs/protocol.md cites, which neither side generates, and invalid
// bytes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nodeText } from '../../../../src/protocol/json/node-bytes.ts';
import { CompactDecoder } from '../../../../src/protocol/payload/compact-decode.ts';
import { CompactEncoder } from '../../../../src/protocol/payload/compact-encode.ts';
import { COMPACT_BYTES_MAX, TAG } from '../../../../src/protocol/payload/compact-layout.ts';
import { readShape, type Shape } from '../../../../src/protocol/payload/shape.ts';
import { nodeMemory } from '../../../../src/sdk/node/memory-node.ts';
import { CompactPair } from '../../../support/random/compact-pair.ts';
import { randomJson } from '../../../support/random/json-texts.ts';
import { forEachSeed, RUNS_ALL_SEEDS, type SeededRandom } from '../../../support/random/seeded-random.ts';

interface Vector {
  readonly case: string;
  /** As JSON. */
  readonly value: string;
  readonly shapes: Readonly<Record<string, readonly string[]>>;
  readonly hex: string;
}

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../golden/binary/compact.json'), 'utf8'),
).payloads;

describe('vectors', () => {
  test.each(vectors)('[wire 2.4] $case: the value becomes these bytes', ({ value, shapes, hex }) => {
    const encoder = new CompactEncoder(nodeMemory, () => {});
    for (const [number, keys] of Object.entries(shapes)) encoder.learn(shape(keys), Number(number));
    const payload = encoder.encode(JSON.parse(value));
    if (payload === undefined) throw new Error('given back');
    expect(Buffer.from(encoder.memory).toString('hex', payload.start, payload.start + payload.length)).toBe(hex);
  });

  test.each(vectors)('[wire 2.4] $case: the bytes become this value, at any offset', ({ value, shapes, hex }) => {
    const decoder = new CompactDecoder(nodeText, (number) => {
      const keys = shapes[number];
      return keys && shape(keys);
    });
    const bytes = Buffer.from(`ffff${hex}ffff`, 'hex');
    expect(JSON.stringify(decoder.decode(bytes, 2, bytes.length - 2))).toBe(value);
    // Not at the start of the memory either.
    expect(JSON.stringify(decoder.decode(bytes.subarray(2), 0, bytes.length - 4))).toBe(value);
  });
});

describe('invalid bytes', () => {
  test.each([
    ['nothing', ''],
    ['less than a tail', '00000000'],
    ['no structure', '0000000000'],
    ['a start of the texts after the end', '01ff00000000'],
    ['unknown flags', '010100000400'],
    ['more shapes than there may be', `01${'0000'.repeat(65)}0100000041`],
    ['references that are not there', '010100000005'],
    ['a shape without a number', '800900010000' + '0001'],
    ['a shape that is not among the references', '810000' + '010000' + '0001'],
    ['structure after the value', '01020200000000'],
    ['a value that is cut off', 'e7000001' + '0300000000'],
    ['an object that is cut off', '800000' + '0100000001'],
    ['text after the texts', '0161' + '0100000000'],
    ['a text longer than all texts', '4361' + '0100000000'],
    ['a text of 4 GiB', 'e9ffffffff' + '0500000000'],
    ['a wide text of half a unit', 'ea01000000' + 'ac' + '0500000500000100'],
    ['an array of 4 G elements', 'ebffffffff' + '0500000000'],
    ['an unknown item', 'ec' + '0100000000'],
    ['a number that is none', 'e7000000000000f87f' + '0900000000'],
    ['an infinite number', 'e60000807f' + '0500000000'],
    ['129 levels', `${'c1'.repeat(128)}c08100000000`],
    ['own shapes that are no JSON', own('[[')],
    ['own shapes that are no list', own('{}')],
    ['an own shape that is no list', own('["a"]')],
    ['an own shape with a key twice', own('[["a","a"]]')],
    ['an own shape with a key that sets the prototype', own('[["__proto__"]]')],
    ['an own shape in an order that no object has', own('[["a","1"]]')],
    ['an own shape that is missing', own('[]')],
  ])('[wire 2.4] %s is refused', (_name, hex) => {
    const known: Shape = shape(['a']);
    const decoder = new CompactDecoder(nodeText, (number) => (number === 0 ? known : undefined));
    const bytes = Buffer.from(hex, 'hex');
    expect(() => decoder.decode(bytes, 0, bytes.length)).toThrow();
    expect({}, 'no prototype was touched').not.toHaveProperty('a');
  });

  test('[wire 2.4] a payload over 256 KiB, or whose JSON would be too long, is refused', () => {
    const decoder = new CompactDecoder(nodeText, () => shape(['k'.repeat(1000)]));
    const large = Buffer.alloc(COMPACT_BYTES_MAX + 1);
    expect(() => decoder.decode(large, 0, large.length)).toThrow('at most 262144 bytes');
    const count = 100_000;
    const objects = Buffer.alloc(2 * count, Buffer.from([TAG.object, TAG.null]));
    const head = Buffer.from([TAG.arrayLong, 0, 0, 0, 0]);
    head.writeUInt32LE(count, 1);
    const tail = Buffer.from([0, 0, 0, 0, 0, 0, 1]);
    tail.writeUIntLE(head.length + objects.length, 2, 3);
    const bytes = Buffer.concat([head, objects, tail]);
    expect(() => decoder.decode(bytes, 0, bytes.length)).toThrow('bytes of keys');
  });

  test('[fault 33] randomly damaged bytes are read or refused, and values that were read have a JSON form', () => {
    const seen = { read: 0, refused: 0 };
    forEachSeed(3000, (random) => {
      const pair = new CompactPair();
      const value: unknown = JSON.parse(`[${randomJson(random)},{"a":1,"b":[2,"three"]},${randomJson(random)}]`);
      for (let round = random.below(3); round >= 0; round--) {
        pair.encode(value);
        pair.answer();
      }
      const payload = pair.encode(value);
      if (payload === undefined) return;
      for (let count = 0; count < 5; count++) {
        const damaged = damage(random, payload);
        try {
          expect(JSON.stringify(pair.decode(damaged)).length).toBeLessThan(100_000);
          seen.read++;
        } catch (error) {
          if (!(error instanceof Error) || error.name === 'AssertionError') throw error;
          seen.refused++;
        }
        expect(Object.prototype).not.toHaveProperty('a');
      }
      expect(JSON.stringify(pair.decode(payload)), 'a damaged payload does not affect the next one').toBe(
        JSON.stringify(value),
      );
    });
    if (!RUNS_ALL_SEEDS) return;
    expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(500);
  });
});

describe('a shape', () => {
  test.each([
    '',
    'null',
    '{}',
    '"a"',
    '[1]',
    '["a","a"]',
    '["__proto__"]',
    '["b","1"]',
    '["2","1"]',
    '[["a"]]',
    '["a"',
  ])('[wire 2.4] %s is not a shape', (text) => {
    expect(readShape(text)).toBeUndefined();
  });

  test('[wire 2.4] has at most 64 keys and 1 KiB', () => {
    const keys = Array.from({ length: 64 }, (_, at) => `k${at}`);
    expect(readShape(JSON.stringify(keys))?.keys).toEqual(keys);
    expect(readShape(JSON.stringify([...keys, 'one-more']))).toBeUndefined();
    expect(readShape(JSON.stringify(['k'.repeat(1020)]))?.keys).toHaveLength(1);
    expect(readShape(JSON.stringify(['k'.repeat(1021)]))).toBeUndefined();
  });
});

/** An object of the first shape that the payload carries. */
function own(text: string): string {
  const bytes = Buffer.concat([Buffer.from([TAG.object, 1]), Buffer.from(text), Buffer.from('ffff', 'hex')]);
  return `${bytes.toString('hex')}0200000200000201`;
}

function shape(keys: readonly string[]): Shape {
  const read = readShape(JSON.stringify(keys));
  if (read === undefined) throw new Error(`No shape: ${keys.join()}`);
  return read;
}

function damage(random: SeededRandom, payload: Buffer): Buffer {
  const damaged = Buffer.from(payload);
  switch (random.below(4)) {
    case 0:
      return damaged.subarray(0, random.below(damaged.length));
    case 1:
      return damaged.subarray(random.below(damaged.length));
    case 2:
      return Buffer.concat([
        damaged.subarray(0, random.below(damaged.length)),
        damaged.subarray(random.below(damaged.length)),
      ]);
    default:
      for (let fault = random.between(1, 3); fault > 0; fault--)
        damaged[random.below(damaged.length)] = random.below(256);
      return damaged;
  }
}
