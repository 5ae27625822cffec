// What is kept of queues and jobs beside the jobs themselves. `src/validators/queue-shapes.ts` compiles these shapes.

import type { DeathReason, EnqueueAnswer, QueueCounts } from './shapes.ts';

export type EnqueueAnswers = EnqueueAnswer[];

/** Of the whole store. */
export interface StoreHead {
  /** Of the next job, in whichever queue: receipts sort by it (F3). */
  nextSeq: number;
  /** Receipts rise although the clock may be set back. */
  lastMs: number;
  nextQueue: number;
  /** Jobs of all queues, dead letters aside. */
  jobs: number;
  /** Tells the receipts of this store from those of others. */
  salt: number;
}

export interface QueueHead extends QueueCounts {
  name: string;
  isPaused: boolean;
  /** As it was when an engine last opened it; a queue that nobody configured has none. */
  isFifo?: boolean;
  /** Every job from here on that has no mark is fresh. */
  cursor: number;
  /** Numbers dead letters in the order in which they died. */
  nextDeath: number;
}

/** What a job has behind it, wherever it stands. */
export interface JobPast {
  attempts: number;
  deliveries: number;
  /** Where it stands in line: its own number, or a later one after a redrive. */
  order: number;
  priority?: number;
  /** FIFO: digest of its group, hexadecimal. */
  group?: string;
  error?: string;
  firstFailedMs?: number;
}

export interface WaitingMark extends JobPast {
  state: 'ready' | 'blocked' | 'delayed' | 'retrying' | 'parked';
  dueMs?: number;
  /** Parked: waits for a subscriber instead of a worker. */
  isKept?: boolean;
}

export interface RunningMark extends JobPast {
  /** When it was handed over. */
  sinceMs: number;
}

export interface DeadMark extends JobPast {
  death: number;
  reason: DeathReason;
  atMs: number;
}

/** A function that gets a copy of what is published under a topic. */
export interface SubscriptionMark {
  topic: string;
  functionId: string;
  /** Its worker left then, and may come back. */
  leftMs?: number;
}
