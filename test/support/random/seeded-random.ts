// Random numbers that can be repeated. A property test runs over fresh seeds each time. A failure names its seed, and
// `SVC_TEST_SEED=<seed>` runs exactly that one again. A test that counts the reached cases has a bound at least seven
// standard deviations below the mean, so that it fails less than once in a billion runs.

import { randomInt } from 'node:crypto';
import type { Random } from '../../../src/effects/random.ts';

/** False when one seed is replayed, which does not reach every case. */
export const RUNS_ALL_SEEDS = process.env.SVC_TEST_SEED === undefined;

/** Runs `body` for the seeds 1 to `count`, for a check that random values fail about once in 2^32. */
export function forEachFixedSeed(count: number, body: (random: SeededRandom) => void): void {
  for (let seed = 1; seed <= count; seed++) body(new SeededRandom(seed));
}

/** Runs `body` once for each of so many fresh seeds. */
export function forEachSeed(count: number, body: (random: SeededRandom) => void): void {
  for (const seed of seedsToRun(count)) {
    try {
      body(new SeededRandom(seed));
    } catch (error) {
      throw withSeed(seed, error);
    }
  }
}

/** The same for a body that waits; one seed after the other. */
export async function forEachSeedInTurn(count: number, body: (random: SeededRandom) => Promise<void>): Promise<void> {
  for (const seed of seedsToRun(count)) {
    await body(new SeededRandom(seed)).catch((error: unknown) => {
      throw withSeed(seed, error);
    });
  }
}

export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** 32 random bits, by the "mulberry32" mixing of a counter. */
  bits(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** A whole number from 0 up to, and not including, `end`. */
  below(end: number): number {
    return this.bits() % end;
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('There is nothing to pick from');
    // Within the range by construction; an item may be undefined.
    return items[this.below(items.length)] as T;
  }

  shuffle<T>(items: readonly T[]): T[] {
    const rest = [...items];
    const shuffled: T[] = [];
    while (rest.length > 0) shuffled.push(...rest.splice(this.below(rest.length), 1));
    return shuffled;
  }

  token(): string {
    return Array.from({ length: 4 }, () => this.bits().toString(16).padStart(8, '0')).join('');
  }

  key(): string {
    return this.token().slice(0, 22);
  }

  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  uuid(): string {
    const hex = this.token();
    const variant = '89ab'[this.below(4)];
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `${variant}${hex.slice(17, 20)}`,
      hex.slice(20, 32),
    ].join('-');
  }
}

function seedsToRun(count: number): number[] {
  const asked = process.env.SVC_TEST_SEED;
  if (asked !== undefined) return [Number(asked)];
  return Array.from({ length: count }, () => randomInt(2 ** 31));
}

function withSeed(seed: number, error: unknown): Error {
  const text = error instanceof Error ? error.message : String(error);
  return new Error(`With SVC_TEST_SEED=${seed}: ${text}`, { cause: error });
}
