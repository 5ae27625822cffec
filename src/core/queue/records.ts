// What is kept of queues and jobs beside the jobs themselves. `src/validators/queue-shapes.ts` compiles these shapes.

import type { FailedAttempt } from './past-attempts.ts';
import type { DeathReason, JobFacts, QueueCounts } from './shapes.ts';
import type { SteadyReading } from './steady-time.ts';

/** Of the records of queues as they are written now; `store/queue/migrate.ts` says what each form is. */
export const QUEUES_FORMAT = 2;

/** Of the whole store. */
export interface StoreHead {
  /** Absent: written before forms had numbers. */
  format?: number;
  /** Of the next job, in whichever queue: receipts sort by it (F3). */
  nextSeq: number;
  /** Receipts rise although the clock may be set back. */
  lastMs: number;
  nextQueue: number;
  /** Jobs of all queues, dead letters aside. */
  jobs: number;
  /** Tells the receipts of this store from those of others. */
  salt: number;
  /** When something last changed; absent: nothing has waited yet by any but the wall clock. */
  time?: SteadyReading;
}

export interface QueueHead extends QueueCounts {
  name: string;
  isPaused: boolean;
  /** As it was when an engine last opened it; a queue that nobody configured has none. */
  isFifo?: boolean;
  /** Every job of a block from here on is fresh. */
  cursor: number;
  /** The block that was claimed from last; none before it has fresh jobs. */
  block?: number;
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
  /** The last of those that failed, the newest last. */
  failed?: FailedAttempt[];
  /** Its payload is not the one that was enqueued. */
  editedMs?: number;
}

export interface WaitingMark extends JobPast {
  state: 'ready' | 'blocked' | 'delayed' | 'retrying' | 'parked';
  /** In steady time (`steady-time.ts`), as every wait. */
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

/** A job as it travels through a broker: the head of its message, the payload behind it. */
export interface BrokerJob {
  id: string;
  enqueuedMs: number;
  facts: JobFacts;
  attempts: number;
  /** Hand-overs before this message was written. */
  deliveries: number;
  error?: string;
  firstFailedMs?: number;
  /** It waits for a subscriber instead of a worker. */
  isKept?: boolean;
  reason?: DeathReason;
  diedMs?: number;
}

/** What a broker cannot tell of its queues. */
export interface BrokerBook {
  /** Rises with every change: of two books the higher one counts. */
  version: number;
  queues: BookedQueue[];
  subscriptions: SubscriptionMark[];
}

export interface BookedQueue {
  name: string;
  /** Absent: nobody has configured it yet. */
  isFifo?: boolean;
  isPaused: boolean;
}
