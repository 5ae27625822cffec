// The records of queues and jobs, without the jobs themselves. `src/validators/queue-shapes.ts` compiles these shapes.

import type { DeathReason, FailedAttempt, JobHeader, QueueCounts } from './shapes.ts';
import type { SteadyReading } from './waits.ts';

/** The current form of queue records; `store/commands/queue/migrate.ts` describes each form. */
export const QUEUES_FORMAT = 2;

/** Of the whole store. */
export interface StoreHead {
  /** Absent: written before forms had numbers. */
  format?: number;
  /** The number of the next job, in any queue: receipts sort by it (F3). */
  nextSeq: number;
  /** Receipts rise even if the clock is set back. */
  lastMs: number;
  nextQueue: number;
  /** Jobs of all queues, without dead letters. */
  jobs: number;
  /** Distinguishes the receipts of this store from those of others. */
  salt: number;
  /** When something last changed; absent: jobs have waited by the wall clock only so far. */
  time?: SteadyReading;
}

export interface QueueHead extends QueueCounts {
  name: string;
  isPaused: boolean;
  /** As it was when an engine last opened it; a queue that was never configured has none. */
  isFifo?: boolean;
  /** Every job of a block from here on is fresh. */
  cursor: number;
  /** The block that was claimed from last; none before it has fresh jobs. */
  block?: number;
  /** Numbers dead letters in the order in which they failed for good. */
  nextDeath: number;
}

/** The history of a job, in every state. */
export interface JobPast {
  attempts: number;
  deliveries: number;
  /** Its place in line: its own number, or a later one after a redrive. */
  order: number;
  priority?: number;
  /** FIFO: digest of its group, hexadecimal. */
  group?: string;
  error?: string;
  firstFailedMs?: number;
  /** The last failed attempts, the newest last. */
  failed?: FailedAttempt[];
  /** Its payload is not the one that was enqueued. */
  editedMs?: number;
}

export interface WaitingRecord extends JobPast {
  state: 'ready' | 'blocked' | 'delayed' | 'retrying' | 'parked';
  /** In steady time (`waits.ts`), like every wait. */
  dueMs?: number;
  /** Parked: waits for a subscriber, not for a worker. */
  isKept?: boolean;
}

export interface RunningRecord extends JobPast {
  /** When it was handed over. */
  sinceMs: number;
}

export interface DeadRecord extends JobPast {
  death: number;
  reason: DeathReason;
  atMs: number;
}

/** A function that gets a copy of each job published under a topic. */
export interface StoredSubscription {
  topic: string;
  functionId: string;
  /** When its worker left; the worker may reconnect. */
  leftMs?: number;
  /** A trusted worker subscribed it: reserved for such workers also where the engine keeps nothing on disk. */
  isTrusted?: boolean;
}

/** The form of a job in a broker: the head of its message, followed by the payload. */
export interface BrokerJob {
  id: string;
  enqueuedMs: number;
  facts: JobHeader;
  attempts: number;
  /** Hand-overs before this message was written. */
  deliveries: number;
  error?: string;
  firstFailedMs?: number;
  /** It waits for a subscriber, not for a worker. */
  isKept?: boolean;
  reason?: DeathReason;
  diedMs?: number;
}

/** What a broker does not record of its queues. */
export interface BrokerRegistry {
  /** Rises with every change: of two books the higher one counts. */
  version: number;
  queues: RegisteredQueue[];
  subscriptions: StoredSubscription[];
}

export interface RegisteredQueue {
  name: string;
  /** Absent: it has not been configured yet. */
  isFifo?: boolean;
  isPaused: boolean;
}

const ATTEMPTS_KEPT = 10;
const EARLIER_ERROR_CHARS_MAX = 500;

export function withAttempt(before: readonly FailedAttempt[] | undefined, newest: FailedAttempt): FailedAttempt[] {
  return [...(before ?? []).slice(1 - ATTEMPTS_KEPT).map(shortened), newest];
}

/** The full error recorded its length: an error that was cut once stays as it is. */
function shortened(attempt: FailedAttempt): FailedAttempt {
  const { error } = attempt;
  if (error.length <= EARLIER_ERROR_CHARS_MAX || CUT.test(error)) return attempt;
  return { ...attempt, error: `${error.slice(0, EARLIER_ERROR_CHARS_MAX)} … (${error.length} characters)` };
}

const CUT = / \u2026 \(\d+ characters\)$/;
