// The interface between the queue module and the keeper of its jobs: the builtin store, or a broker.
//
// The module decides when jobs are claimed, how often they are attempted and what a failure means. An adapter keeps the
// jobs and moves them, each move as a whole or not at all. Answers come in a later turn, each exactly once.
// What only some adapters can do is in `capabilities.ts`. docs/contributing/write-an-adapter.md shows a complete one.

import type { AdapterDeclaration } from '../../../core/config-fields/module-declaration.ts';
import type {
  AdvanceInput,
  EnqueueAnswer,
  EnqueueRules,
  JobHeader,
  QueueStats,
  TakenJob,
} from '../../../core/queue/shapes.ts';
import type { RetryRules } from '../../../core/queue/waits.ts';
import type { Payload } from '../../../protocol/payload/payload.ts';
import { adapterConfig, type ChosenAdapter, type ModuleContext } from '../../module.ts';
import { lackOf, type QueueCapabilities } from './capabilities.ts';

export interface QueueAdapter extends QueueCapabilities {
  readonly name: string;
  /** Why jobs can be neither enqueued nor claimed now; `undefined`: they can. */
  readonly trouble: string | undefined;
  /** The limit of all waits of one job of a fifo queue; absent: none. */
  readonly fifoWaitsMsMax?: number;
  /** Names where the jobs are, for every engine that works on them. Absent: unknown, or they end with this engine. */
  readonly place?: string | undefined;
  /** Where the jobs are, for health: never a credential. */
  readonly location: Readonly<Record<string, string>>;
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
  /**
   * Records the outcomes of claimed jobs, then claims more. `done` is called when the outcomes are durable;
   * `undefined`: nothing was recorded or claimed, and the step is sent again.
   */
  advance(step: AdvanceInput, done: (answer: Advanced | undefined) => void): void;
  /** A worker offers the function again. Resolves with how many jobs waited for it (Q7). */
  wake(queue: string, functionId: string): Promise<number>;
  /** Of every queue that was ever used. */
  stats(): Promise<readonly QueueStats[]>;
  /** When it resolves, the outcomes so far are on their way. Always quick (G1). */
  stop(): void | Promise<void>;
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
  readonly facts: JobHeader;
  /** Valid until the call returns. */
  readonly payload: Payload | undefined;
  readonly delayMs?: number;
  readonly priority?: number;
  readonly idempotencyKey?: string;
}

export interface Advanced {
  readonly jobs: readonly TakenJob[];
  /** Whether more can be claimed at once. */
  readonly hasMore: boolean;
  /**
   * When the next waiting job is due or expires, by the monotonic clock of this engine. `null`: none waits, or, of an
   * adapter with `sharing`, it calls `changed` when one is due.
   */
  readonly nextDueMs: number | null;
  /** Outcomes that came with the token of another hand-over (Q8). */
  readonly stale: number;
  /** Jobs that failed for good. */
  readonly died: number;
}

/** What is known of an adapter before it is built, for the check of a file. */
export interface QueueAdapterRules<C> {
  /** Why it cannot keep the queue. */
  queueOffence?(queue: CheckedQueue, config: C): string | undefined;
  readonly lacksPriorities?: boolean;
}

export type CheckedQueue = Pick<QueueKind, 'isFifo' | 'retry' | 'jobTimeoutMs' | 'rules'> & { readonly name: string };

/** An entry of `catalogue.ts`: the settings of an adapter, and its code. */
export interface QueueAdapterDefinition {
  readonly declaration: AdapterDeclaration;
  /** Why it cannot keep the queue, as far as that is known without building it. */
  queueOffence(queue: CheckedQueue, chosen: ChosenAdapter): string | undefined;
  /** `undefined`: the file chooses another adapter. */
  create(context: ModuleContext, chosen: ChosenAdapter | undefined): QueueAdapter | undefined;
}

/** Ties the code of an adapter to the type of its settings. */
export function defineQueueAdapter<C>(
  declaration: AdapterDeclaration<C>,
  create: (context: ModuleContext, config: C) => QueueAdapter,
  rules: QueueAdapterRules<C> = {},
): QueueAdapterDefinition {
  return {
    declaration,
    queueOffence(queue, chosen) {
      const config = adapterConfig(chosen, declaration);
      if (config === undefined) return undefined;
      if (rules.lacksPriorities === true && queue.rules.priorityField !== undefined) {
        return `priority_field is invalid: ${lackOf(declaration, 'priorities')}`;
      }
      return rules.queueOffence?.(queue, config);
    },
    create(context, chosen) {
      const config = adapterConfig(chosen, declaration);
      return config === undefined ? undefined : create(context, config);
    },
  };
}
