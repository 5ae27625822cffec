// The state of one data channel: which connections have its two ends, what is held between them, and what follows when
// one of them leaves.
//
// States of an end:
//   untaken  no connection has it yet                          take → open
//   open     a connection has it                               leave → gone
//   gone     that connection ended; the end is never taken again
// Time limit: a channel with an untaken end is dropped `UNTAKEN_MS_MAX` after its creation. One whose ends were both
// taken has none (PD-52).
// Invariants:
//   - An end is taken at most once.
//   - When the writer is gone, the reader still gets what it had sent; only then does the reader's end follow.
//   - When the reader is gone, nothing is held.

import { HeldFrames, type HeldFramesLimits } from './held-frames.ts';

export type Direction = 'read' | 'write';
export type EndState = 'untaken' | 'open' | 'gone';

/**
 * How the reader's end follows the writer's: `complete` if the writer closed normally, `cut` if something may be lost.
 */
export type Ending = 'complete' | 'cut';

export interface ChannelDetails {
  readonly id: string;
  /** A client that knows it may take an end. */
  readonly key: string;
  /** Frames that a writer which keeps to credit may have in transit. */
  readonly framesMax: number;
  readonly createdMs: number;
}

export class Channel {
  readonly details: ChannelDetails;
  readonly held: HeldFrames;
  readonly #states: Record<Direction, EndState> = { read: 'untaken', write: 'untaken' };
  #ending: Ending = 'cut';

  constructor(details: ChannelDetails, limits: HeldFramesLimits) {
    this.details = details;
    this.held = new HeldFrames(limits);
  }

  stateOf(end: Direction): EndState {
    return this.#states[end];
  }

  /** False: the end is or was taken. */
  take(end: Direction): boolean {
    if (this.#states[end] !== 'untaken') return false;
    this.#states[end] = 'open';
    return true;
  }

  /** The writer left. False: it was not connected. */
  leaveWriter(ending: Ending): boolean {
    if (this.#states.write !== 'open') return false;
    this.#states.write = 'gone';
    this.#ending = ending;
    return true;
  }

  /** The reader left, so nothing needs to be held. False: it was not connected. */
  leaveReader(): boolean {
    if (this.#states.read !== 'open') return false;
    this.#states.read = 'gone';
    this.held.discard();
    return true;
  }

  /** How the reader's connection is to be closed now; `undefined` while frames are left for it, or may come. */
  get endingForReader(): Ending | undefined {
    const isDue = this.#states.write === 'gone' && this.#states.read === 'open' && this.held.isEmpty;
    return isDue ? this.#ending : undefined;
  }

  /** The reader has not received all frames of a writer that left. */
  get isDelivering(): boolean {
    return this.#states.write === 'gone' && this.#states.read === 'open';
  }

  get isOver(): boolean {
    return this.#states.write === 'gone' && this.#states.read === 'gone';
  }

  /** Whether an end can still be taken. */
  get isUntaken(): boolean {
    return this.#states.read === 'untaken' || this.#states.write === 'untaken';
  }

  isOverdue(nowMs: number): boolean {
    return this.isUntaken && nowMs - this.details.createdMs >= UNTAKEN_MS_MAX;
  }
}

/** The time within which both ends have to be taken. */
export const UNTAKEN_MS_MAX = 5 * 60_000;

/** How many frames a channel may hold: the requested number, within the limit (wire 7). */
export function clampBufferSize(asked: number | null | undefined): number {
  if (asked == null || Number.isNaN(asked)) return BUFFER_FRAMES_DEFAULT;
  return Math.min(Math.max(Math.floor(asked), 1), BUFFER_FRAMES_MAX);
}

const BUFFER_FRAMES_DEFAULT = 64;
const BUFFER_FRAMES_MAX = 1024;
