// Frames of a channel that its reader has not been sent yet: in memory up to a bound, then in a file.
//
// Job: say where each frame goes, keep those in memory, and give all of them out again in order. Pure: whoever owns
// it does the writing and reading of the file that this one asks for.
// Modes, and what leads from one to the other:
//   in memory  new frames are copied and kept            no room, in this channel or in all together → spilling
//   spilling   new frames are records behind the others   everything in the file was fetched and given out → in memory
// Invariants:
//   H1  Frames come out in the order they went in: nothing enters memory while the file holds something.
//   H2  The bounds hold at every moment; a frame that does not fit is refused and leaves no trace.
//   H3  What was taken from the budgets is given back, each byte once, at the latest by `discard`.

import type { ByteBudget } from './byte-budget.ts';

export interface Frame {
  readonly bytes: Uint8Array;
  readonly isText: boolean;
}

export interface HeldFramesLimits {
  /** Bytes in memory; a frame counts some more than its payload. */
  readonly memoryBytesMax: number;
  /** Bytes in the file; 0: there is to be no file. */
  readonly fileBytesMax: number;
  /** What all channels share. */
  readonly memoryBudget: ByteBudget;
  readonly fileBudget: ByteBudget;
}

/** Where a frame went. `file`: the caller appends its record. `nowhere`: there is no room. */
export type Place = 'memory' | 'file' | 'nowhere';

export class HeldFrames {
  readonly #limits: HeldFramesLimits;
  /** What was given out is `undefined`, until it is cut off. */
  #frames: (Frame | undefined)[] = [];
  /** Of the first in `#frames` that was not given out yet. */
  #first = 0;
  #memoryBytes = 0;
  /** Appended to the file and not fetched from it. */
  #fileBytes = 0;
  /** Fetched from the file: records, the last of which may be cut off. */
  #fetched: Uint8Array = NOTHING;

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

  /** Takes a frame in. What goes to memory is copied; the caller's bytes are its own again. */
  hold(bytes: Uint8Array, isText: boolean): Place {
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
    if (this.#fileBytes + recordBytes > fileBytesMax || !fileBudget.take(recordBytes)) return 'nowhere';
    this.#fileBytes += recordBytes;
    return 'file';
  }

  /** The next frame, which is then no longer held; `undefined` if there is none, or if it must be fetched first. */
  next(): Frame | undefined {
    return this.#nextInMemory() ?? this.#nextFetched();
  }

  /** So many bytes must be fetched from the file before `next` can go on; 0 if it can. */
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
    // Cutting off the front costs as much as what is left: done when that is little.
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

  /** Length of the record that comes next, or of its header while that is not here; 0 if there is none. */
  #recordBytes(): number {
    if (this.#fetched.length >= HEADER_BYTES) return HEADER_BYTES + payloadBytes(this.#fetched);
    return this.#isSpilling ? HEADER_BYTES : 0;
  }
}

/** What stands before a frame's bytes in the file. */
export function recordHeader(payloadLength: number, isText: boolean): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  new DataView(header.buffer).setUint32(0, payloadLength * 2 + (isText ? TEXT_BIT : 0), true);
  return header;
}

/** The length of the payload, and in the lowest bit whether it is text. A frame is far shorter than 2 GiB. */
const HEADER_BYTES = 4;
const TEXT_BIT = 1;
/** What a frame costs in memory beside its payload: a flood of empty frames must meet the bound too. */
const FRAME_COST_BYTES = 128;
/** Fetched at a time: enough to keep a reader busy while the next piece comes. */
const FETCH_BYTES = 256 * 1024;
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
