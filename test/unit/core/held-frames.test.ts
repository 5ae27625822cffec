import { describe, expect, test } from 'vitest';
import { ByteBudget } from '../../../src/core/byte-budget.ts';
import { type Frame, HeldFrames, type HeldFramesLimits, recordHeader } from '../../../src/core/held-frames.ts';
import { forEachSeed, type SeededRandom } from '../../support/seeded-random.ts';

const KIB = 1024;
/** What a frame counts beside its payload in memory, and in the file. */
const [MEMORY_COST, FILE_COST] = [128, 4];

describe('frames that wait for a reader', () => {
  test('[wire 7] They come out in the order and of the kind they went in, whatever was in memory and what in the file', () => {
    let spilled = 0;
    forEachSeed(60, (random) => {
      const chain = new Chain(random, { memoryBytesMax: random.pick([0, 300, 2 * KIB]), fileBytesMax: 16 * KIB });
      for (let step = 0; step < 400; step++) chain.step();
      chain.drain();
      expect(chain.out).toEqual(chain.kept);
      expect(chain.budgetsTaken()).toEqual([0, 0]);
      spilled += chain.spilledCount;
    });
    // Otherwise it was no proof.
    expect(spilled).toBeGreaterThan(1000);
  });

  test('[guarantees 4] At no moment are more bytes kept than allowed, and what did not fit leaves no trace', () => {
    let refused = 0;
    forEachSeed(60, (random) => {
      const chain = new Chain(random, { memoryBytesMax: KIB, fileBytesMax: 4 * KIB, takePercent: 30 });
      for (let step = 0; step < 300; step++) {
        chain.step();
        const { memoryBytes, fileBytes } = chain.held;
        expect(memoryBytes).toBeLessThanOrEqual(KIB);
        expect(fileBytes).toBeLessThanOrEqual(4 * KIB);
        expect(chain.budgetsTaken()).toEqual([memoryBytes, fileBytes]);
      }
      refused += chain.refusedCount;
      chain.held.discard();
      expect(chain.budgetsTaken()).toEqual([0, 0]);
      expect(chain.held.isEmpty).toBe(true);
    });
    expect(refused).toBeGreaterThan(100);
  });

  test('[guarantees 4] A flood of empty frames meets the bound too', () => {
    const held = new HeldFrames(limitsOf({ memoryBytesMax: 10 * MEMORY_COST, fileBytesMax: 5 * FILE_COST }));
    const places = Array.from({ length: 20 }, () => held.hold(new Uint8Array(0), false));
    expect(places.slice(0, 10)).toEqual(Array(10).fill('memory'));
    expect(places.slice(10, 15)).toEqual(Array(5).fill('file'));
    expect(places.slice(15)).toEqual(Array(5).fill('nowhere'));
  });

  test('[guarantees 4] What all channels share is shared: one that takes it all sends the next one to the file', () => {
    const memoryBudget = new ByteBudget(1000);
    const [first, second] = [0, 1].map(() => new HeldFrames(limitsOf({ memoryBytesMax: 1000, memoryBudget })));
    expect(first?.hold(new Uint8Array(800), false)).toBe('memory');
    expect(second?.hold(new Uint8Array(10), false)).toBe('file');
    first?.next();
    expect(second?.hold(new Uint8Array(10), false)).toBe('file');
    second?.discard();
    expect(second?.hold(new Uint8Array(10), false)).toBe('memory');
  });

  test('[wire 7] A kept frame does not change with the buffer it came in', () => {
    const held = new HeldFrames(limitsOf({ memoryBytesMax: KIB }));
    for (const buffer of [Uint8Array.of(1, 2, 3), Buffer.of(1, 2, 3)]) {
      held.hold(buffer, false);
      buffer.fill(9);
      expect(held.next()).toEqual({ bytes: Uint8Array.of(1, 2, 3), isText: false });
    }
  });

  test('[guarantees 4] A frame far larger than what is fetched at a time is fetched in as few pieces as it takes', () => {
    const held = new HeldFrames(limitsOf({ memoryBytesMax: 0, fileBytesMax: 8 * KIB * KIB }));
    const frame = new Uint8Array(4 * KIB * KIB).fill(7);
    expect(held.hold(frame, true)).toBe('file');
    const file = Buffer.concat([recordHeader(frame.length, true), frame]);
    let at = 0;
    let pieces = 0;
    for (let wanted = held.bytesToFetch; wanted > 0; wanted = held.bytesToFetch) {
      held.fetched(file.subarray(at, at + wanted));
      at += wanted;
      pieces++;
    }
    expect(pieces).toBeLessThanOrEqual(2);
    const out = held.next();
    expect(out?.isText).toBe(true);
    expect(Buffer.compare(out?.bytes ?? NOTHING, frame)).toBe(0);
    expect(held.isEmpty).toBe(true);
  });
});

const NOTHING = new Uint8Array(0);

interface ChainOptions extends Pick<HeldFramesLimits, 'memoryBytesMax' | 'fileBytesMax'> {
  /** How often a step takes something out instead of putting something in. */
  readonly takePercent?: number;
}

/** The frames with a file of their own, and what must come out of them. */
class Chain {
  readonly held: HeldFrames;
  readonly kept: Frame[] = [];
  readonly out: Frame[] = [];
  spilledCount = 0;
  refusedCount = 0;
  readonly #random: SeededRandom;
  readonly #limits: HeldFramesLimits;
  readonly #takePercent: number;
  #file = Buffer.alloc(0);
  #serial = 0;

  constructor(random: SeededRandom, { takePercent = 50, ...limits }: ChainOptions) {
    this.#random = random;
    this.#takePercent = takePercent;
    this.#limits = limitsOf(limits);
    this.held = new HeldFrames(this.#limits);
  }

  step(): void {
    const random = this.#random;
    if (!random.chance(this.#takePercent)) this.#put();
    else if (random.chance(50)) this.#take();
    else this.#fetch(random.between(1, 300));
  }

  drain(): void {
    while (!this.held.isEmpty) {
      this.#take();
      this.#fetch(64 * KIB);
    }
    expect(this.held.next()).toBeUndefined();
    expect(this.held.bytesToFetch).toBe(0);
  }

  budgetsTaken(): [number, number] {
    return [this.#limits.memoryBudget.taken, this.#limits.fileBudget.taken];
  }

  #put(): void {
    const frame = this.#newFrame();
    const place = this.held.hold(frame.bytes, frame.isText);
    if (place === 'nowhere') this.refusedCount++;
    else this.kept.push(frame);
    if (place !== 'file') return;
    this.spilledCount++;
    this.#file = Buffer.concat([this.#file, recordHeader(frame.bytes.length, frame.isText), frame.bytes]);
    expect(this.#file.length).toBeLessThanOrEqual(this.#limits.fileBytesMax);
  }

  #take(): void {
    const frame = this.held.next();
    if (frame !== undefined) this.out.push({ ...frame, bytes: Uint8Array.from(frame.bytes) });
  }

  /** As a file does it: as many bytes as are wanted, or fewer. */
  #fetch(bytesMax: number): void {
    const wanted = Math.min(this.held.bytesToFetch, bytesMax);
    if (wanted === 0) return;
    this.held.fetched(Uint8Array.from(this.#file.subarray(0, wanted)));
    this.#file = this.#file.subarray(wanted);
  }

  #newFrame(): Frame {
    const bytes = new Uint8Array(this.#random.pick([0, 1, 7, 100, 900]));
    if (bytes.length > 0) bytes[0] = this.#serial++ % 251;
    return { bytes, isText: this.#random.chance(50) };
  }
}

function limitsOf(limits: Partial<HeldFramesLimits>): HeldFramesLimits {
  return {
    memoryBytesMax: 0,
    fileBytesMax: 64 * KIB,
    memoryBudget: new ByteBudget(Number.MAX_SAFE_INTEGER),
    fileBudget: new ByteBudget(Number.MAX_SAFE_INTEGER),
    ...limits,
  };
}
