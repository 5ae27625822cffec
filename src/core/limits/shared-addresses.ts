// How many connections each address has open, and has opened within a second, on all routers of a process together. A
// table in memory that the routers share; they change it by compare-and-exchange and never wait for one another.
//
// What always holds: the place of an address and its number of open connections are one word, so a place is given to
// another address only while it has none. An address whose first connections arrive at two routers at once can get two
// places; from then on its connections count at the first of them.
//
// An address is kept as 32 bits of its hash, in a bucket that other bits of it choose. Two addresses that agree in both
// share their limits. The hash depends on a secret of the process, so that no client can choose such addresses.

import type { AddressUses, ConnectionLimits } from './connection-counts.ts';

const BUCKETS = 8_192;
/** With 100 000 addresses a bucket has 12; that more than 32 meet in one is as good as impossible. */
const PLACES_IN_BUCKET = 32;
/** The word of the address, then that of its second. */
const WORDS_PER_PLACE = 2;
/** Pages that no address uses take no memory. */
export const ADDRESS_TABLE_BYTES = BUCKETS * PLACES_IN_BUCKET * WORDS_PER_PLACE * BigInt64Array.BYTES_PER_ELEMENT;

const SECOND_MS = 1_000;

export interface AddressTable {
  readonly memory: SharedArrayBuffer;
  /** Where the table begins, a multiple of 8. */
  readonly at: number;
  /** The secret of the process. */
  readonly seed: number;
  /** What this router adds to its times, so that those of all routers are comparable. */
  readonly zeroMs: number;
}

/** A word has the hash of an address or the start of its second in the upper half, and a count in the lower one. */
export class SharedAddresses implements AddressUses {
  readonly #words: BigInt64Array;
  readonly #seed: number;
  readonly #zeroMs: number;
  readonly #limits: ConnectionLimits;

  constructor({ memory, at, seed, zeroMs }: AddressTable, limits: ConnectionLimits) {
    this.#words = new BigInt64Array(memory, at, ADDRESS_TABLE_BYTES / BigInt64Array.BYTES_PER_ELEMENT);
    this.#seed = seed;
    this.#zeroMs = zeroMs;
    this.#limits = limits;
  }

  enter(address: string, ownNowMs: number): boolean {
    const nowMs = ownNowMs + this.#zeroMs;
    const { connectionsMax, connectionsPerSecondMax } = this.#limits;
    const key = keyOf(address, this.#seed);
    for (;;) {
      const known = this.#find(key);
      const place = known ?? this.#take(key, nowMs);
      if (place === undefined) return false;
      // Another router was faster with the same address.
      if (place === TAKEN) continue;
      if (known !== undefined && !this.#add(place, key, connectionsMax)) {
        if (this.#openAt(place, key) >= connectionsMax) return false;
        continue;
      }
      if (takeInSecond(this.#words, place + 1, nowMs, connectionsPerSecondMax)) return true;
      this.#remove(place, key);
      return false;
    }
  }

  leave(address: string): void {
    const key = keyOf(address, this.#seed);
    for (let at = key.bucket, end = at + BUCKET_WORDS; at < end; at += WORDS_PER_PLACE) {
      if (this.#remove(at, key)) return;
    }
  }

  /** Nothing waits here: a place without connections is given to the next address that needs one. */
  trim(): void {}

  /** The word of that address. */
  #find({ bucket, hash }: Key): number | undefined {
    for (let at = bucket, end = bucket + BUCKET_WORDS; at < end; at += WORDS_PER_PLACE) {
      if (highOf(Atomics.load(this.#words, at)) === hash) return at;
    }
    return undefined;
  }

  /** A place of its own with one open connection. `undefined`: the bucket is full. */
  #take(key: Key, nowMs: number): number | typeof TAKEN | undefined {
    const end = key.bucket + BUCKET_WORDS;
    for (let at = key.bucket; at < end; at += WORDS_PER_PLACE) {
      const before = Atomics.load(this.#words, at);
      if (openOf(before) > 0 || !this.#isOver(at, before, nowMs)) continue;
      if (Atomics.compareExchange(this.#words, at, before, wordOf(key.hash, 1)) !== before) return TAKEN;
      if (this.#find(key) !== at) {
        this.#remove(at, key);
        return TAKEN;
      }
      Atomics.store(this.#words, at + 1, 0n);
      return at;
    }
    return undefined;
  }

  /** Whether the last second of a place is over: its address would otherwise start again at once. */
  #isOver(at: number, word: bigint, nowMs: number): boolean {
    return word === 0n || sinceStart(Atomics.load(this.#words, at + 1), nowMs) >= SECOND_MS;
  }

  #openAt(at: number, { hash }: Key): number {
    const word = Atomics.load(this.#words, at);
    return highOf(word) === hash ? openOf(word) : 0;
  }

  #add(at: number, { hash }: Key, max: number): boolean {
    const before = Atomics.load(this.#words, at);
    if (highOf(before) !== hash || openOf(before) >= max) return false;
    return Atomics.compareExchange(this.#words, at, before, before + 1n) === before;
  }

  /** Whether that place had a connection of the address. */
  #remove(at: number, { hash }: Key): boolean {
    for (;;) {
      const before = Atomics.load(this.#words, at);
      if (highOf(before) !== hash || openOf(before) === 0) return false;
      if (Atomics.compareExchange(this.#words, at, before, before - 1n) === before) return true;
    }
  }
}

/**
 * Whether one more is within the limit of a second, which begins with its first; counts it then. The word has the start
 * of the second, and how many were taken in it.
 */
export function takeInSecond(words: BigInt64Array, at: number, nowMs: number, max: number): boolean {
  for (;;) {
    const before = Atomics.load(words, at);
    const isNew = before === 0n || sinceStart(before, nowMs) >= SECOND_MS;
    const taken = isNew ? 0 : openOf(before);
    if (taken >= max) return false;
    const after = isNew ? wordOf(Math.trunc(nowMs) | 0, 1) : before + 1n;
    if (Atomics.compareExchange(words, at, before, after) === before) return true;
  }
}

/** Takes back what was counted last, unless another second has begun. */
export function giveBackInSecond(words: BigInt64Array, at: number): void {
  for (;;) {
    const before = Atomics.load(words, at);
    if (openOf(before) === 0 || Atomics.compareExchange(words, at, before, before - 1n) === before) return;
  }
}

interface Key {
  /** The first word of its bucket. */
  readonly bucket: number;
  /** Not 0, which is a place that was never used. */
  readonly hash: number;
}

const TAKEN = -1;
const BUCKET_WORDS = PLACES_IN_BUCKET * WORDS_PER_PLACE;
const LOW = 0xffff_ffffn;

function wordOf(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

function highOf(word: bigint): number {
  return Number(word >> 32n);
}

function openOf(word: bigint): number {
  return Number(word & LOW);
}

/** Milliseconds, of times that are kept as 32 bits. The clock of another router may be a little ahead. */
function sinceStart(word: bigint, nowMs: number): number {
  const ms = (Math.trunc(nowMs) - highOf(word)) >>> 0;
  return ms > 0xffff_ffff - SECOND_MS ? 0 : ms;
}

/** FNV-1a from two starting points, each mixed at the end. */
function keyOf(address: string, seed: number): Key {
  let one = seed | 0;
  let other = ~seed;
  for (let at = 0; at < address.length; at++) {
    const unit = address.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x0100_0193);
    other = Math.imul(other ^ unit, 0x85eb_ca6b);
  }
  return { bucket: ((mixed(one) >>> 0) % BUCKETS) * BUCKET_WORDS, hash: mixed(other) || 1 };
}

function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x7feb_352d);
  const twice = Math.imul(once ^ (once >>> 15), 0x846c_a68b);
  return twice ^ (twice >>> 16);
}
