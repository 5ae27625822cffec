// One data channel as data: who has its two ends, what is held between them, and what follows when one of them leaves.
//
// States of an end:
//   untaken  nobody has connected to it yet                    take → open
//   open     a connection has it                               leave → gone
//   gone     that connection ended; nobody gets the end again
// Time limit: a channel with an untaken end is dropped `UNTAKEN_MS_MAX` after its creation. One whose ends were both
// taken has none (decisions 52).
// Invariants:
//   C1  An end is taken at most once.
//   C2  When the writer is gone, what it had sent is still owed to the reader; only then does the reader's end follow.
//   C3  When the reader is gone, nothing is held.

import { HeldFrames, type HeldFramesLimits } from './held-frames.ts';

export type Direction = 'read' | 'write';
export type EndState = 'untaken' | 'open' | 'gone';

/** How the reader's end follows the writer's: `complete` if the writer said goodbye, `cut` if something may be lost. */
export type Ending = 'complete' | 'cut';

export interface ChannelFacts {
  readonly id: string;
  /** Whoever knows it may take an end. */
  readonly key: string;
  /** Frames that a writer which keeps to credit may have on their way. */
  readonly framesMax: number;
  readonly createdMs: number;
}

export class Channel {
  readonly facts: ChannelFacts;
  readonly held: HeldFrames;
  readonly #states: Record<Direction, EndState> = { read: 'untaken', write: 'untaken' };
  #ending: Ending = 'cut';

  constructor(facts: ChannelFacts, limits: HeldFramesLimits) {
    this.facts = facts;
    this.held = new HeldFrames(limits);
  }

  stateOf(end: Direction): EndState {
    return this.#states[end];
  }

  /** False: somebody has it, or had it (C1). */
  take(end: Direction): boolean {
    if (this.#states[end] !== 'untaken') return false;
    this.#states[end] = 'open';
    return true;
  }

  /** The writer is gone. False: it was not there. */
  leaveWriter(ending: Ending): boolean {
    if (this.#states.write !== 'open') return false;
    this.#states.write = 'gone';
    this.#ending = ending;
    return true;
  }

  /** The reader is gone, and with it the reason to hold anything. False: it was not there. */
  leaveReader(): boolean {
    if (this.#states.read !== 'open') return false;
    this.#states.read = 'gone';
    this.held.discard();
    return true;
  }

  /** How the reader's connection is to be ended now; `undefined` as long as there is, or may be, something for it. */
  get endingForReader(): Ending | undefined {
    const isDue = this.#states.write === 'gone' && this.#states.read === 'open' && this.held.isEmpty;
    return isDue ? this.#ending : undefined;
  }

  /** The reader has not got everything that its writer left behind. */
  get isDelivering(): boolean {
    return this.#states.write === 'gone' && this.#states.read === 'open';
  }

  get isOver(): boolean {
    return this.#states.write === 'gone' && this.#states.read === 'gone';
  }

  isOverdue(nowMs: number): boolean {
    const isUntaken = this.#states.read === 'untaken' || this.#states.write === 'untaken';
    return isUntaken && nowMs - this.facts.createdMs >= UNTAKEN_MS_MAX;
  }
}

/** Time that both ends have to be taken. */
export const UNTAKEN_MS_MAX = 5 * 60_000;

/** How many frames a channel is asked to hold: what was asked for, within what is allowed (wire 7). */
export function clampBufferSize(asked: number | null | undefined): number {
  if (asked == null || Number.isNaN(asked)) return BUFFER_FRAMES_DEFAULT;
  return Math.min(Math.max(Math.floor(asked), 1), BUFFER_FRAMES_MAX);
}

const BUFFER_FRAMES_DEFAULT = 64;
const BUFFER_FRAMES_MAX = 1024;
