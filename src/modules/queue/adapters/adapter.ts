// The interface between the queue module and the keeper of its jobs: the builtin store, or a broker.
//
// The module decides when jobs are claimed, how often they are attempted and what a failure means. An adapter keeps the
// jobs and moves them, each move as a whole or not at all. Answers come in a later turn, each exactly once.

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
import type { Payload } from '../../../protocol/payload/payload.ts';

export interface QueueAdapter {
  readonly name: string;
  /** A step that is requested after jobs sees them: it need not wait for their receipts. */
  readonly isOrdered?: boolean;
  /** The local store that its jobs lie in, for modules that write jobs together with their cause. */
  readonly store?: object;
  /** It cannot recognise a repeated job: it refuses idempotency keys. */
  readonly hasNoKeys?: boolean;
  /** The settings with which a queue was opened hold until the engine restarts. */
  readonly hasFixedQueues?: boolean;
  /** What it cannot show, in addition to the methods it lacks; absent: nothing. */
  readonly keepsBack?: readonly QueueSecret[];
  /** Why jobs can be neither enqueued nor claimed now; `undefined`: they can. */
  readonly trouble: string | undefined;
  /** The location of the jobs, for health: never a credential. */
  readonly facts: Readonly<Record<string, string>>;
  /**
   * Rejects when the jobs are not available; then nothing of it remains. `changed` is called when there may be more to
   * claim that did not come through this engine.
   */
  start(changed: (queue: string) => void): Promise<void>;
  /**
   * This engine works on the queue from now on. Jobs that ran when the last engine ended return to their places without
   * using an attempt (R2). Refused when existing jobs conflict with the settings (K4).
   */
  open(queue: string, kind: QueueKind): Promise<OpenedQueue>;
  /** `done` gets a receipt when the job is durable (Q1). Jobs of one queue are taken in the order of the calls (F3). */
  enqueue(queue: string, rules: EnqueueRules, job: JobToKeep, done: (answer: EnqueueAnswer) => void): void;
  /** A copy for every target, or none: durable when this resolves. Rejects with a `Refusal`. */
  publish(targets: readonly PublishTarget[], data: Uint8Array): Promise<void>;
  /** Records the outcomes of claimed jobs, then claims more. `done` is called when the outcomes are durable. */
  advance(step: AdvanceInput, done: (answer: Advanced | undefined) => void): void;
  /**
   * False: another engine may have got the claimed job meanwhile, because the broker took this engine for dead. Absent:
   * that is impossible.
   */
  mayHandOver?(queue: string, job: TakenJob): boolean;
  /** A worker offers the function again. Resolves with how many jobs waited for it (Q7). */
  wake(queue: string, functionId: string): Promise<number>;
  /**
   * Functions that parked jobs wait for, whichever engine parked them; empty while no other engine works on the queue.
   * Absent: no other engine can.
   */
  parkedElsewhere?(queue: string): Promise<readonly string[]>;
  /** Kept across restarts. Running jobs continue. */
  setPaused(queue: string, isPaused: boolean): Promise<void>;
  /** Of every queue that was ever used. */
  stats(): Promise<readonly QueueStats[]>;
  /** `groupField`: the field of the payload with the value of its group. */
  job(id: string, groupField?: string): Promise<JobRow | null>;
  /** The payload as it was enqueued; absent: the adapter hands payloads to workers only. */
  payload?(id: string): Promise<Uint8Array | undefined>;
  /** Absent: it has no information about the lines of FIFO groups. */
  groups?(input: GroupsInput): Promise<GroupsPage>;
  /** Absent: it does not search payloads; a job is found by receipt and error. */
  readonly findsInPayloads?: boolean;
  jobs(page: JobsInput): Promise<JobsPage>;
  /** JSON of the rows, newest first, payloads byte for byte (Q10). */
  deadLetters(page: DeadListInput): Promise<Uint8Array>;
  /** Resolves with how many were moved; without an id, those that are dead now, oldest first. */
  redrive(queue: string, id?: string, payload?: Uint8Array): Promise<number>;
  discard(queue: string, id?: string): Promise<number>;
  subscriptions(): Promise<readonly SubscriptionMark[]>;
  /** With `leftMs`: its worker left, and may come back. */
  subscribe(mark: SubscriptionMark): Promise<void>;
  unsubscribe(topic: string, functionId: string): Promise<void>;
  /** The queue is no longer used; its resources in the store are freed if it is empty. */
  forget?(queue: string): Promise<void>;
  /** Moves what was kept for the first subscriber into its queue. */
  handKeptTo(from: string, to: string, functionId: string, rules: EnqueueRules): Promise<number>;
  /** When it resolves, the outcomes so far are on their way. Always quick (G1). */
  stop(): void | Promise<void>;
}

/**
 * `jobs`: which jobs wait. `waits`: how many of them wait for their time or their next attempt. `attempts`: all but the
 * last error of a job. `payloads`: those of jobs that are not dead. `payload_search`: search in payloads. `groups`: the
 * lines of a FIFO queue.
 */
export type QueueSecret = 'jobs' | 'waits' | 'attempts' | 'payloads' | 'payload_search' | 'groups';

/** Everything that the adapter cannot show. */
export function secretsOf(adapter: QueueAdapter): readonly QueueSecret[] {
  const { keepsBack = [], payload, findsInPayloads, groups } = adapter;
  return [
    ...keepsBack,
    ...(payload === undefined ? (['payloads'] as const) : []),
    ...(findsInPayloads === true ? [] : (['payload_search'] as const)),
    ...(groups === undefined ? (['groups'] as const) : []),
  ];
}

/** The properties of a queue that its adapter needs before the first job. */
export interface QueueKind {
  readonly isFifo: boolean;
  /** Jobs claimed at the same time. */
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
  /** There is no subscriber: the message is kept until there is one. */
  readonly isKept: boolean;
  /** The context of the publisher. */
  readonly traceparent?: string | undefined;
  readonly baggage?: string | undefined;
}

/** A job that may run now, and the location of its payload. */
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
