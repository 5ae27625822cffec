// What the queue module asks of whatever keeps its jobs: the builtin store, or a broker.
//
// The module decides when jobs are claimed, how often they are tried and what becomes of a failure; an adapter keeps
// them and moves them, each move whole or not at all. Answers come in a later turn, each exactly once.

import type { RetryRules } from '../../../core/queue/backoff.ts';
import type { GroupsInput, GroupsPage } from '../../../core/queue/group-shapes.ts';
import type { SubscriptionMark } from '../../../core/queue/records.ts';
import type {
  AdvanceInput,
  ClaimedJob,
  DeadListInput,
  EnqueueAnswer,
  EnqueueRules,
  JobFacts,
  JobRow,
  JobsInput,
  JobsPage,
  QueueStats,
} from '../../../core/queue/shapes.ts';
import type { Payload } from '../../../protocol/payload.ts';

export interface QueueAdapter {
  readonly name: string;
  /** A step that is asked for behind jobs sees them: it need not wait for their receipts. */
  readonly isOrdered?: boolean;
  /** The store of this machine that its jobs lie in, for those who write jobs together with what caused them. */
  readonly store?: object;
  /** It cannot tell a repeated job from a new one: it refuses idempotency keys. */
  readonly hasNoKeys?: boolean;
  /** What it was told when a queue was opened holds until the engine starts anew. */
  readonly hasFixedQueues?: boolean;
  /** What it keeps from whoever looks, beyond what it has no method for; absent: nothing. */
  readonly keepsBack?: readonly QueueSecret[];
  /** Why jobs can neither come nor go now; `undefined`: they can. */
  readonly trouble: string | undefined;
  /** Where the jobs are, for health: never a credential. */
  readonly facts: Readonly<Record<string, string>>;
  /**
   * Rejects when the jobs cannot be had; then nothing of it is left. `changed`: there may be more to claim, and not by
   * way of this engine.
   */
  start(changed: (queue: string) => void): Promise<void>;
  /**
   * This engine works on the queue from now on. Jobs that ran when the last engine ended go back to their places
   * without an attempt (R2). Refused when jobs stand in its way (K4).
   */
  open(queue: string, kind: QueueKind): Promise<OpenedQueue>;
  /** Told with a receipt when the job is durable (Q1). Jobs of one queue are taken in the order of the calls (F3). */
  enqueue(queue: string, rules: EnqueueRules, job: JobToKeep, done: (answer: EnqueueAnswer) => void): void;
  /** A copy for every target, or none: durable when this resolves. Rejects with a `Refusal`. */
  publish(targets: readonly PublishTarget[], data: Uint8Array): Promise<void>;
  /** How claimed jobs went on, then the claim of more. Told when the outcomes are durable. */
  advance(step: AdvanceInput, done: (answer: Advanced | undefined) => void): void;
  /**
   * False: somebody else may have been given the claimed job meanwhile, as the broker took this engine for dead.
   * Absent: nobody else can have been.
   */
  mayHandOver?(queue: string, job: TakenJob): boolean;
  /** A worker offers the function again. Resolves with how many jobs waited for it (Q7). */
  wake(queue: string, functionId: string): Promise<number>;
  /**
   * Functions that jobs wait for, whichever engine put these aside; nothing while no other engine works on the queue.
   * Absent: no other engine can.
   */
  parkedElsewhere?(queue: string): Promise<readonly string[]>;
  /** Kept over restarts. What runs goes on. */
  setPaused(queue: string, isPaused: boolean): Promise<void>;
  /** Of every queue that was ever used. */
  stats(): Promise<readonly QueueStats[]>;
  /** `groupField`: where the value of its group is in the payload. */
  job(id: string, groupField?: string): Promise<JobRow | null>;
  /** As it was enqueued; absent: it hands payloads to workers only. */
  payload?(id: string): Promise<Uint8Array | undefined>;
  /** Absent: it cannot tell of lines of FIFO groups. */
  groups?(input: GroupsInput): Promise<GroupsPage>;
  /** Absent: it does not look into payloads, and a job is found by receipt and error. */
  readonly findsInPayloads?: boolean;
  jobs(page: JobsInput): Promise<JobsPage>;
  /** JSON of the rows, newest first, payloads byte for byte (Q10). */
  deadLetters(page: DeadListInput): Promise<Uint8Array>;
  /** Resolves with how many went; without an id those that are dead now, oldest first. */
  redrive(queue: string, id?: string, payload?: Uint8Array): Promise<number>;
  discard(queue: string, id?: string): Promise<number>;
  subscriptions(): Promise<readonly SubscriptionMark[]>;
  /** With `leftMs`: its worker went, and may come back. */
  subscribe(mark: SubscriptionMark): Promise<void>;
  unsubscribe(topic: string, functionId: string): Promise<void>;
  /** Nobody has a use for the queue; what it takes of the store is free if it is empty. */
  forget?(queue: string): Promise<void>;
  /** What was kept for the first subscriber moves into its queue. */
  handKeptTo(from: string, to: string, functionId: string, rules: EnqueueRules): Promise<number>;
  /** Outcomes that were told are on their way when it resolves. Never takes long (G1). */
  stop(): void | Promise<void>;
}

/**
 * `jobs`: which ones wait. `waits`: how many of them wait for their time or their next attempt. `attempts`: all but
 * the last error of a job. `payloads`: those of jobs that are not dead. `payload_search`: a text in them. `groups`: the
 * lines of a FIFO queue.
 */
export type QueueSecret = 'jobs' | 'waits' | 'attempts' | 'payloads' | 'payload_search' | 'groups';

/** Everything that the adapter cannot tell. */
export function secretsOf(adapter: QueueAdapter): readonly QueueSecret[] {
  const { keepsBack = [], payload, findsInPayloads, groups } = adapter;
  return [
    ...keepsBack,
    ...(payload === undefined ? (['payloads'] as const) : []),
    ...(findsInPayloads === true ? [] : (['payload_search'] as const)),
    ...(groups === undefined ? (['groups'] as const) : []),
  ];
}

/** What a queue is, as far as its adapter has to know before the first job. */
export interface QueueKind {
  readonly isFifo: boolean;
  /** Claimed at once. */
  readonly concurrency: number;
  readonly retry: RetryRules;
  readonly jobTimeoutMs: number;
  readonly rules: EnqueueRules;
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
  /** The context of the publisher. */
  readonly traceparent?: string | undefined;
  readonly baggage?: string | undefined;
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
