// What the queue module asks of whatever keeps its jobs: the builtin store, or a broker.
//
// The module decides when jobs are claimed, how often they are tried and what becomes of a failure; an adapter keeps
// them and moves them, each move whole or not at all. Answers come in a later turn, each exactly once.

import type { SubscriptionMark } from '../../../core/queue/records.ts';
import type {
  AdvanceInput,
  ClaimedJob,
  DeadListInput,
  EnqueueAnswer,
  EnqueueRules,
  JobFacts,
  JobRow,
  PageInput,
  QueueStats,
} from '../../../core/queue/shapes.ts';
import type { Payload } from '../../../protocol/payload.ts';

export interface QueueAdapter {
  readonly name: string;
  /** Why jobs can neither come nor go now; `undefined`: they can. */
  readonly trouble: string | undefined;
  /** Where the jobs are, for health: never a credential. */
  readonly facts: Readonly<Record<string, string>>;
  /** Rejects when the jobs cannot be had; then nothing of it is left. */
  start(): Promise<void>;
  /**
   * This engine works on the queue from now on. Jobs that ran when the last engine ended go back to their places
   * without an attempt (R2). Refused when jobs stand in its way (K4).
   */
  open(queue: string, kind: { readonly isFifo: boolean }): Promise<OpenedQueue>;
  /** Told with a receipt when the job is durable (Q1). Jobs of one queue are taken in the order of the calls (F3). */
  enqueue(queue: string, rules: EnqueueRules, job: JobToKeep, done: (answer: EnqueueAnswer) => void): void;
  /** A copy for every target, or none: durable when this resolves. Rejects with a `Refusal`. */
  publish(targets: readonly PublishTarget[], data: Uint8Array): Promise<void>;
  /** How claimed jobs went on, then the claim of more. Told when the outcomes are durable. */
  advance(step: AdvanceInput, done: (answer: Advanced | undefined) => void): void;
  /** A worker offers the function again. Resolves with how many jobs waited for it (Q7). */
  wake(queue: string, functionId: string): Promise<number>;
  /** Kept over restarts. What runs goes on. */
  setPaused(queue: string, isPaused: boolean): Promise<void>;
  /** Of every queue that was ever used. */
  stats(): Promise<readonly QueueStats[]>;
  job(id: string): Promise<JobRow | null>;
  jobs(page: PageInput): Promise<readonly JobRow[]>;
  /** JSON of the rows, newest first, payloads byte for byte (Q10). */
  deadLetters(page: DeadListInput): Promise<Uint8Array>;
  /** Resolves with how many went; without an id those that are dead now, oldest first. */
  redrive(queue: string, id?: string, payload?: Uint8Array): Promise<number>;
  discard(queue: string, id?: string): Promise<number>;
  subscriptions(): Promise<readonly SubscriptionMark[]>;
  /** With `leftMs`: its worker went, and may come back. */
  subscribe(mark: SubscriptionMark): Promise<void>;
  unsubscribe(topic: string, functionId: string): Promise<void>;
  /** What was kept for the first subscriber moves into its queue. */
  handKeptTo(from: string, to: string, functionId: string, rules: EnqueueRules): Promise<number>;
  stop(): void;
}

export interface OpenedQueue {
  readonly isRefused: boolean;
  readonly parkedFunctions: readonly string[];
}

export interface JobToKeep {
  readonly facts: JobFacts;
  /** Valid until the call returns. */
  readonly payload: Payload | undefined;
  readonly delayMs?: number;
  readonly priority?: number;
  readonly idempotencyKey?: string;
}

export interface PublishTarget {
  readonly queue: string;
  readonly rules: EnqueueRules;
  readonly functionId: string;
  readonly delayMs: number;
  /** There is no subscriber: kept until there is one. */
  readonly isKept: boolean;
}

/** A job that may run now, and how to find its payload. */
export interface TakenJob extends ClaimedJob {
  readonly payload: Buffer;
}

export interface Advanced {
  readonly jobs: readonly TakenJob[];
  readonly hasMore: boolean;
  readonly nextDueMs: number | null;
  readonly stale: number;
  readonly died: number;
}
