// Frames of a channel that its reader has not been sent yet: in memory up to a bound, then in a file.
//
// Job: decide where each frame goes, keep those in memory, and return all of them in order. Pure: the owner writes and
// reads the file as this object asks. Modes and their transitions:
//   in memory  new frames are copied and kept            no room, in this channel or in all together → spilling
//   spilling   new frames are records after the others    everything in the file was fetched and given out → in memory
// Invariants:
//   - Frames come out in the order they went in: nothing enters memory while the file holds something.
//   - The bounds hold at every moment; a frame that does not fit is refused and leaves no trace.
//   - What was taken from the budgets is given back, each byte once, at the latest by `discard`.

import type { Budget, JointBudget } from '../limits/byte-budget.ts';

export interface Frame {
  readonly bytes: Uint8Array;
  readonly isText: boolean;
}

export interface HeldFramesLimits {
  /** Bytes in memory; a frame counts some more than its payload. */
  readonly memoryBytesMax: number;
  /** Bytes in the file; 0: no file is used. */
  readonly fileBytesMax: number;
  /** What several channels share. */
  readonly memoryBudget: Budget;
  readonly fileBudget: JointBudget;
}

/** Where a frame went. `file`: the caller appends its record. `nowhere`: there is no room. */
export type HeldIn = 'memory' | 'file' | 'nowhere';

export class HeldFrames {
  readonly #limits: HeldFramesLimits;
  /** A frame that was given out is `undefined` until the list is trimmed. */
  #frames: (Frame | undefined)[] = [];
  /** Of the first in `#frames` that was not given out yet. */
  #first = 0;
  #memoryBytes = 0;
  /** Appended to the file and not fetched from it. */
  #fileBytes = 0;
  /** Fetched from the file: records, the last of which may be incomplete. */
  #fetched: Uint8Array = NOTHING;
  #fullLimit = '';

  constructor(limits: HeldFramesLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#memoryBytes === 0 && !this.#isSpilling;
  }

  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  get fileBytes(): number {
    return this.#fileBytes;
  }

  /** The limit that the last refused frame exceeded. */
  get fullLimit(): string {
    return this.#fullLimit;
  }

  /** Takes a frame in. Frames that go to memory are copied; the caller may reuse its bytes. */
  hold(bytes: Uint8Array, isText: boolean): HeldIn {
    const { memoryBytesMax, memoryBudget, fileBytesMax, fileBudget } = this.#limits;
    const costBytes = FRAME_COST_BYTES + bytes.length;
    const fits = !this.#isSpilling && this.#memoryBytes + costBytes <= memoryBytesMax;
    if (fits && memoryBudget.take(costBytes)) {
      // Not `slice`, which for a Buffer copies nothing.
      this.#frames.push({ bytes: new Uint8Array(bytes), isText });
      this.#memoryBytes += costBytes;
      return 'memory';
    }
    const recordBytes = HEADER_BYTES + bytes.length;
    const isFull = this.#fileBytes + recordBytes > fileBytesMax;
    if (isFull || !fileBudget.take(recordBytes)) {
      this.#fullLimit = isFull ? FILE_LIMIT : fileBudget.refusedBy;
      return 'nowhere';
    }
    this.#fileBytes += recordBytes;
    return 'file';
  }

  /** The next frame, which is then no longer held; `undefined` if there is none, or if it must be fetched first. */
  next(): Frame | undefined {
    return this.#nextInMemory() ?? this.#nextFetched();
  }

  /** That many bytes must be fetched from the file before `next` can continue; 0 if it can. */
  get bytesToFetch(): number {
    if (this.#fileBytes === 0 || this.#first < this.#frames.length) return 0;
    const missing = this.#recordBytes() - this.#fetched.length;
    return missing <= 0 ? 0 : Math.min(Math.max(missing, FETCH_BYTES), this.#fileBytes);
  }

  /** Bytes from the file, which follow those fetched before. */
  fetched(bytes: Uint8Array): void {
    this.#fileBytes -= bytes.length;
    this.#limits.fileBudget.giveBack(bytes.length);
    this.#fetched = this.#fetched.length === 0 ? bytes : joined(this.#fetched, bytes);
  }

  /** Forgets everything that is held. */
  discard(): void {
    const { memoryBudget, fileBudget } = this.#limits;
    memoryBudget.giveBack(this.#memoryBytes);
    fileBudget.giveBack(this.#fileBytes);
    this.#frames = [];
    this.#first = 0;
    this.#memoryBytes = 0;
    this.#fileBytes = 0;
    this.#fetched = NOTHING;
  }

  get #isSpilling(): boolean {
    return this.#fileBytes > 0 || this.#fetched.length > 0;
  }

  #nextInMemory(): Frame | undefined {
    const frame = this.#frames[this.#first];
    if (frame === undefined) return undefined;
    const costBytes = FRAME_COST_BYTES + frame.bytes.length;
    this.#memoryBytes -= costBytes;
    this.#limits.memoryBudget.giveBack(costBytes);
    this.#frames[this.#first++] = undefined;
    // Trimming the front costs as much as the rest: done when the rest is small.
    if (2 * this.#first >= this.#frames.length) {
      this.#frames.splice(0, this.#first);
      this.#first = 0;
    }
    return frame;
  }

  #nextFetched(): Frame | undefined {
    const end = this.#recordBytes();
    if (this.#fetched.length < end || end === 0) return undefined;
    const isText = ((this.#fetched[0] ?? 0) & TEXT_BIT) !== 0;
    const bytes = this.#fetched.subarray(HEADER_BYTES, end);
    this.#fetched = end === this.#fetched.length ? NOTHING : this.#fetched.subarray(end);
    return { bytes, isText };
  }

  /** Length of the next record, or of its header while that is not here; 0 if there is none. */
  #recordBytes(): number {
    if (this.#fetched.length >= HEADER_BYTES) return HEADER_BYTES + payloadBytes(this.#fetched);
    return this.#isSpilling ? HEADER_BYTES : 0;
  }
}

/** The header of a frame in the file. */
export function recordHeader(payloadLength: number, isText: boolean): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  new DataView(header.buffer).setUint32(0, payloadLength * 2 + (isText ? TEXT_BIT : 0), true);
  return header;
}

/** The length of the payload, and in the lowest bit whether it is text. A frame is far shorter than 2 GiB. */
const HEADER_BYTES = 4;
const TEXT_BIT = 1;
/** The memory of a frame in addition to its payload: a flood of empty frames must meet the bound too. */
const FRAME_COST_BYTES = 128;
/** Fetched at a time: enough to keep a reader busy until the next piece arrives. */
const FETCH_BYTES = 256 * 1024;
const FILE_LIMIT = 'limits.engine.channel_spill_bytes';
const NOTHING = new Uint8Array(0);

function payloadBytes(record: Uint8Array): number {
  return new DataView(record.buffer, record.byteOffset, HEADER_BYTES).getUint32(0, true) >>> 1;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
