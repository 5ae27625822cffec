// Every value comes out of the compact form as JSON.parse(JSON.stringify(value)) gives it.

import { isDeepStrictEqual } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { CompactPair } from '../../../support/random/compact-pair.ts';
import { randomJson } from '../../../support/random/json-texts.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

class Point {
  readonly x = 1;
  readonly #hidden = 2;
  get sum(): number {
    return this.x + this.#hidden;
  }
}

class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
  toJSON(key: string): unknown {
    return { [`${key}-euro`]: this.cents / 100, nothing: undefined };
  }
}

const SPARSE: unknown[] = [1];
SPARSE[3] = 2;
const SHARED = { a: [1] };

/** Values that the compact form carries. */
const VALUES: readonly (readonly [name: string, value: unknown])[] = [
  ['numbers', { n: [0, -0, 1, 63, 64, 255, 256, 65_535, 65_536, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 53] }],
  ['fractions', [0.1, 0.5, -1.25, 1e300, 5e-324, Number.MAX_VALUE, Number.MIN_SAFE_INTEGER, 19.99]],
  ['numbers that JSON has no word for', [Number.NaN, Number.POSITIVE_INFINITY, { n: Number.NEGATIVE_INFINITY }]],
  ['what is left out', { a: undefined, b: () => 1, c: Symbol('c'), d: [undefined, () => 1, Symbol('d')] }],
  ['an object all of which is left out', { a: undefined }],
  ['holes', SPARSE],
  ['texts', ['', 'a', 'é', '\u0000', '\u2028"\\', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(5000), 'ÿ'.repeat(300)]],
  ['wide texts', ['€', '😀', '名前'.repeat(40), { '€': '€' }, `a${'b'.repeat(9000)}€`, '\ufeff']],
  ['halves of surrogate pairs', ['\ud800', 'a\udfff', '\udc00\ud800', { '\ud800': 1 }]],
  ['dates', { at: new Date(0), never: new Date(Number.NaN) }],
  ['buffers', { bytes: Buffer.from([1, 2, 255]), array: new Uint8Array([1, 2]) }],
  ['objects of a class', [new Point(), { m: new Money(150) }, [new Money(5)]]],
  ['maps, sets, errors, patterns', [new Map([[1, 2]]), new Set([1]), new Error('x'), /x/, new WeakMap()]],
  ['keys like numbers', { b: 1, 2: 'two', 1: 'one', a: 2, '01': 3 }],
  ['empty keys', { '': 1, ' ': 2 }],
  ['keys of the prototype', { constructor: 1, toString: 2, hasOwnProperty: 3, valueOf: null }],
  ['the same object twice', [SHARED, SHARED, { SHARED }]],
  ['nothing', [{}, [], [[]], [{}], {}]],
  [
    'long arrays',
    [Array.from({ length: 31 }, () => 1), Array.from({ length: 32 }, () => []), new Array(1000).fill({})],
  ],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
  [
    'inherited or hidden members',
    Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, no: { value: 2 } }),
  ],
  ['an object of another realm', runInContext('({ a: [1, { b: new Date(5) }], m: new Map() })', createContext())],
  ['a replaced array', Object.assign([1, 2], { toJSON: () => ({ now: 'an object' }) })],
  ['64 keys', Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`k${at}`, at]))],
];

/** Values that JSON.stringify writes. */
const GIVEN_BACK: readonly (readonly [name: string, value: unknown])[] = [
  ['wrapped numbers', { n: Object(5) }],
  ['wrapped texts', [Object('text')]],
  ['wrapped truth', [Object(false)]],
  ['wrappers of another realm', runInContext('[new Number(5), new String("x")]', createContext())],
  ['a subclass of a wrapper', [new (class Id extends Number {})(7)]],
  ['a key named __proto__', JSON.parse('{"a":{"__proto__":{"polluted":true}}}')],
  ['65 keys', Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`k${at}`, at]))],
  ['a key of 2 KiB', { ['k'.repeat(2048)]: 1 }],
  ['more than 256 KiB of text', { text: 'x'.repeat(300_000) }],
  ['more than 256 KiB of structure', Array.from({ length: 300_000 }, () => 1)],
  ['129 levels', nested(129)],
  ['more than 64 shapes', Array.from({ length: 65 }, (_, at) => ({ [`k${at}`]: at }))],
  ['a function with a toJSON', { f: Object.assign(() => 1, { toJSON: () => 'text' }) }],
  ['no object', 'text'],
];

describe('the compact form', () => {
  test.each(VALUES)('[wire 2.4] carries %s', (_name, value) => {
    const pair = new CompactPair();
    // The payload carries the keys at first; then they have a number.
    for (let round = 0; round < 4; round++) {
      expectSame(pair, value);
      pair.answer();
    }
  });

  test.each(GIVEN_BACK)('[wire 2.4] leaves %s to JSON', (_name, value) => {
    expect(new CompactPair().encode(value)).toBeUndefined();
  });

  test('[wire 2.4] leaves values that JSON refuses to JSON.stringify, which throws', () => {
    const circle: unknown[] = [];
    circle.push({ circle });
    expect(new CompactPair().encode(circle)).toBeUndefined();
    expect(new CompactPair().encode({ big: 1n })).toBeUndefined();
  });

  test('[wire 2.4] throws the error of a toJSON or a getter, and continues with the next value', () => {
    const pair = new CompactPair();
    const getter = Object.defineProperty({}, 'x', { enumerable: true, get: () => fail('getter') });
    expect(() => pair.encode([1, { toJSON: () => fail('toJSON') }])).toThrow('toJSON');
    expect(() => pair.encode({ a: 'text', getter })).toThrow('getter');
    expectSame(pair, { a: 'text', b: 'more' });
  });

  test('[wire 2.4] allows a toJSON that encodes another value', () => {
    const pair = new CompactPair();
    let inner: unknown = 'not run';
    const value = {
      before: 'text',
      self: {
        toJSON() {
          inner = pair.encode({ inner: 'text' });
          return 'self';
        },
      },
      after: ['text'],
    };
    expect(decoded(pair, value)).toEqual({ before: 'text', self: 'self', after: ['text'] });
    expect(inner, 'the inner one goes as JSON').toBeUndefined();
  });

  test('[wire 2.4] carries random values, of known and unknown shapes', () => {
    forEachSeed(300, (random) => {
      const pair = new CompactPair();
      for (let count = 0; count < 6; count++) {
        const value = randomValue(random, 4);
        for (let round = random.below(4); round >= 0; round--) {
          if (typeof value === 'object' && value !== null) expectSame(pair, value);
          if (random.chance(50)) pair.answer();
        }
      }
    });
  });

  test('[wire 2.4] carries every value that has a JSON form', () => {
    forEachSeed(1500, (random) => {
      const pair = new CompactPair();
      const value: unknown = JSON.parse(`[${randomJson(random)},${randomJson(random)}]`);
      expectSame(pair, value);
    });
  });
});

describe('a shape', () => {
  test('[wire 2.4] requests a number once, when it occurs the second time', () => {
    const pair = new CompactPair();
    const asked = Array.from({ length: 5 }, (_, at) => {
      pair.encode({ row: at, of: { table: 1 } });
      return pair.answer();
    });
    expect(asked).toEqual([[], ['["table"]', '["row","of"]'], [], [], []]);
  });

  test('[wire 2.4] with a number leaves its keys out of the payload', () => {
    const pair = new CompactPair();
    const value = { description: 'a', quantity: 1 };
    const lengths = Array.from({ length: 4 }, () => {
      const length = pair.encode(value)?.length;
      pair.answer();
      return length;
    });
    expect(lengths).toEqual([42, 42, 11, 11]);
  });

  test('[wire 2.4] objects that serve as dictionaries are sent as JSON, and are tried less and less often', () => {
    const pair = new CompactPair();
    let runs = 0;
    const dictionary = (of: number): object =>
      Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`id-${of}-${at}`, { toJSON: () => ++runs }]));
    for (let count = 0; count < 1000; count++) expect(pair.encode(dictionary(count))).toBeUndefined();
    expect(runs).toBeLessThan(64 * 30);
    for (let count = 0; count < 64; count++) pair.encode({ plain: 1 });
    expect(pair.encode({ plain: 1 }), 'what fits is carried again soon').toBeDefined();
  });

  test('[wire 2.4] a stream of new keys does not drop the numbered shapes', () => {
    const pair = new CompactPair();
    for (let count = 0; count < 3; count++) {
      pair.encode({ known: 1 });
      pair.answer();
    }
    for (let count = 0; count < 30_000; count++) pair.encode({ [`id-${count}`]: 1 });
    expect(pair.encode({ known: 1 })?.length).toBe(9);
    expect(pair.shapes.size, 'what came up once is not asked for').toBe(1);
  });
});

function expectSame(pair: CompactPair, value: unknown): void {
  const text = JSON.stringify(value);
  const payload = pair.encode(value);
  if (payload === undefined) {
    // Only values that have to be sent as JSON may have been rejected.
    expect(text).toMatch(/__proto__/);
    return;
  }
  const result = pair.decode(payload);
  // The text shows the order of keys, the comparison shows holes and prototypes.
  expect(JSON.stringify(result)).toBe(text);
  expect(isDeepStrictEqual(result, JSON.parse(text)), text).toBe(true);
}

function decoded(pair: CompactPair, value: unknown): unknown {
  const payload = pair.encode(value);
  if (payload === undefined) throw new Error('given back');
  return pair.decode(payload);
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

function fail(what: string): never {
  throw new Error(what);
}

const KEYS = ['id', 'name', 'größe', '€', '0', '12', 'constructor', '', 'a b', 'x"y'];
const LEAVES: readonly unknown[] = [
  null,
  undefined,
  true,
  false,
  -0,
  Number.NaN,
  'text',
  '€😀',
  '\ud800',
  'é'.repeat(80),
  new Date(1e12),
  Symbol('s'),
  new Map(),
];

function randomValue(random: SeededRandom, levels: number): unknown {
  const dice = random.below(levels > 0 ? 10 : 4);
  if (dice < 2) return random.pick(LEAVES);
  if (dice < 3) return random.below(2 ** 20) - 2 ** 19;
  if (dice < 4) return (random.bits() - 2 ** 31) / random.pick([1, 2, 3, 1e5, 7e-300]);
  const count = random.below(5);
  if (dice < 6) return Array.from({ length: count }, () => randomValue(random, levels - 1));
  const entries = Array.from({ length: count }, () => [random.pick(KEYS), randomValue(random, levels - 1)] as const);
  return Object.fromEntries(entries);
}
