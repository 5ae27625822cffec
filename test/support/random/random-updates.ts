// Random values and random update operations. Names are few, so that operations share them, and some are dangerous.

import type { JsonValue } from '../../../src/core/calls/exact-json.ts';
import type { SeededRandom } from './seeded-random.ts';

const NAMES = ['a', 'b', 'n', 'list', '__proto__', 'constructor', 'toString', '', 'a.b', 'x'.repeat(300)];

export function randomValue(random: SeededRandom, depth = 3): JsonValue {
  const kind = random.below(depth > 0 ? 8 : 6);
  if (kind === 6) return Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1));
  if (kind === 7) return randomObject(random, depth - 1);
  return random.pick<JsonValue>([null, true, 'text', '', random.below(1000) - 500, random.below(100) / 8]);
}

/** Parsed from text, like real values: `__proto__` is an ordinary key. */
export function randomObject(random: SeededRandom, depth = 2): JsonValue {
  const members = Array.from(
    { length: random.below(5) },
    () => `${JSON.stringify(random.pick(NAMES))}:${JSON.stringify(randomValue(random, depth))}`,
  );
  return JSON.parse(`{${members.join(',')}}`);
}

export function randomOps(random: SeededRandom, count: number): JsonValue[] {
  return Array.from({ length: count }, () => randomOp(random));
}

function randomOp(random: SeededRandom): JsonValue {
  const type = random.pick(['set', 'merge', 'increment', 'decrement', 'append', 'remove']);
  const mayBeList = type === 'merge' || type === 'append';
  const path = mayBeList && random.chance(50) ? randomSegments(random) : random.pick(NAMES);
  const where = random.chance(10) ? {} : { path };
  if (type === 'increment' || type === 'decrement') return { type, ...where, by: random.below(20) - 10 };
  if (type === 'remove') return { type, ...where };
  return { type, ...where, value: type === 'merge' && random.chance(80) ? randomObject(random) : randomValue(random) };
}

function randomSegments(random: SeededRandom): string[] {
  const length = random.chance(5) ? 33 : random.below(4);
  return Array.from({ length }, () => random.pick(NAMES));
}
