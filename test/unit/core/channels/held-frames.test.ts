import { describe, expect, test } from 'vitest';
import {
  type Frame,
  HeldFrames,
  type HeldFramesLimits,
  recordHeader,
} from '../../../../src/core/channels/held-frames.ts';
import { ByteBudget, JointBudget } from '../../../../src/core/limits/byte-budget.ts';
import { forEachSeed, RUNS_ALL_SEEDS, type SeededRandom } from '../../../support/random/seeded-random.ts';

const KIB = 1024;
/** The overhead of a frame in memory, and in the file. */
const [MEMORY_COST, FILE_COST] = [128, 4];

describe('frames that wait for a reader', () => {
  test('[wire 7] They are delivered in order and with their kind, from memory and from the file', () => {
    let spilled = 0;
    forEachSeed(60, (random) => {
      const chain = new Chain(random, { memoryBytesMax: random.pick([0, 300, 2 * KIB]), fileBytesMax: 16 * KIB });
      for (let step = 0; step < 400; step++) chain.step();
      chain.drain();
      expect(chain.out).toEqual(chain.kept);
      expect(chain.budgetsTaken()).toEqual([0, 0]);
      spilled += chain.spilledCount;
    });
    // Otherwise the test would prove nothing.
    if (RUNS_ALL_SEEDS) expect(spilled).toBeGreaterThan(1000);
  });

  test('[guarantees 4] The limits hold at every moment, and a refused frame takes no room', () => {
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
    if (RUNS_ALL_SEEDS) expect(refused).toBeGreaterThan(100);
  });

  test('[guarantees 4] Empty frames count towards the limits', () => {
    const held = new HeldFrames(limitsOf({ memoryBytesMax: 10 * MEMORY_COST, fileBytesMax: 5 * FILE_COST }));
    const places = Array.from({ length: 20 }, () => held.hold(new Uint8Array(0), false));
    expect(places.slice(0, 10)).toEqual(Array(10).fill('memory'));
    expect(places.slice(10, 15)).toEqual(Array(5).fill('file'));
    expect(places.slice(15)).toEqual(Array(5).fill('nowhere'));
  });

  test('A refused frame names the limit that it exceeds', () => {
    const files = { name: 'limits.of.all', budget: new ByteBudget(3 * FILE_COST) };
    const held = new HeldFrames(limitsOf({ fileBytesMax: 2 * FILE_COST, fileBudget: new JointBudget([files]) }));
    const other = new HeldFrames(limitsOf({ fileBytesMax: 2 * FILE_COST, fileBudget: new JointBudget([files]) }));
    const hold = (frames: HeldFrames) => frames.hold(new Uint8Array(0), false);
    expect([hold(held), hold(held), hold(held)]).toEqual(['file', 'file', 'nowhere']);
    expect(held.fullLimit).toBe('limits.engine.channel_spill_bytes');
    expect([hold(other), hold(other)]).toEqual(['file', 'nowhere']);
    expect(other.fullLimit).toBe('limits.of.all');
  });

  test('[guarantees 4] All channels share one memory budget: when one uses it up, the next writes to the file', () => {
    const memoryBudget = new ByteBudget(1000);
    const [first, second] = [0, 1].map(() => new HeldFrames(limitsOf({ memoryBytesMax: 1000, memoryBudget })));
    expect(first?.hold(new Uint8Array(800), false)).toBe('memory');
    expect(second?.hold(new Uint8Array(10), false)).toBe('file');
    first?.next();
    expect(second?.hold(new Uint8Array(10), false)).toBe('file');
    second?.discard();
    expect(second?.hold(new Uint8Array(10), false)).toBe('memory');
  });

  test('[wire 7] A kept frame is a copy of the buffer that it arrived in', () => {
    const held = new HeldFrames(limitsOf({ memoryBytesMax: KIB }));
    for (const buffer of [Uint8Array.of(1, 2, 3), Buffer.of(1, 2, 3)]) {
      held.hold(buffer, false);
      buffer.fill(9);
      expect(held.next()).toEqual({ bytes: Uint8Array.of(1, 2, 3), isText: false });
    }
  });

  test('[guarantees 4] A frame far larger than one read is read in at most two pieces', () => {
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
  /** How often a step takes a frame out and does not put one in. */
  readonly takePercent?: number;
}

/** The frames with a file of their own, and the expected output. */
class Chain {
  readonly held: HeldFrames;
  readonly kept: Frame[] = [];
  readonly out: Frame[] = [];
  spilledCount = 0;
  refusedCount = 0;
  readonly #random: SeededRandom;
  readonly #limits: HeldFramesLimits;
  readonly #takePercent: number;
  readonly #memory = new ByteBudget(Number.MAX_SAFE_INTEGER);
  readonly #files = new ByteBudget(Number.MAX_SAFE_INTEGER);
  #file = Buffer.alloc(0);
  #serial = 0;

  constructor(random: SeededRandom, { takePercent = 50, ...limits }: ChainOptions) {
    this.#random = random;
    this.#takePercent = takePercent;
    const files = { name: 'files', budget: this.#files };
    this.#limits = limitsOf({ ...limits, memoryBudget: this.#memory, fileBudget: new JointBudget([files]) });
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
    return [this.#memory.taken, this.#files.taken];
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

  /** Like a file: the requested number of bytes, or fewer. */
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
    fileBudget: new JointBudget([]),
    ...limits,
  };
}
