// Queues for users of the SDK: a queue by its name, its jobs and its dead letters (SDK-5). A thin layer over `trigger`.

import { Enqueue, type EnqueueOptions, type EnqueueReceipt } from '../calls/actions.ts';
import type { PayloadOf, Target, Trigger, Untyped } from '../calls/call-types.ts';

/**
 * A queue by its name.
 *
 * @example
 * import { registerWorker, type SvcQueue } from 'svc-sdk';
 *
 * const mail: SvcQueue = registerWorker().queue('mail');
 * const { messageReceiptId } = await mail.enqueue('mail::send', { to: 'x@y.z' }, { idempotency_key: 'order 7' });
 * console.log((await mail.job(messageReceiptId)).state);
 */
export interface SvcQueue {
  readonly name: string;
  /** Resolves with the receipt as soon as the job is on disk. */
  enqueue<T extends Target>(
    functionId: T,
    payload?: PayloadOf<T>,
    options?: Omit<EnqueueOptions, 'queue'>,
  ): Promise<EnqueueReceipt>;
  /** The state of a job. A finished job is remembered for an hour, then the answer is `NOT_FOUND`. */
  job(messageReceiptId: string): Promise<QueuedJob>;
  /** Starts no more jobs until `resume`, also after a restart. Running jobs continue. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Jobs that failed for good. */
  readonly dlq: DeadLetterQueue;
}

/**
 * A job as the engine reports it.
 *
 * @example
 * import { type QueuedJob, registerWorker } from 'svc-sdk';
 *
 * export const isOver = ({ state }: QueuedJob): boolean => state === 'done' || state === 'dead';
 * console.log(isOver(await registerWorker().queue('mail').job('0192f0c1-7a52-7000-8000-000100011234')));
 */
export interface QueuedJob {
  readonly messageReceiptId: string;
  readonly queue: string;
  readonly function_id: string;
  readonly state: 'waiting' | 'delayed' | 'running' | 'retrying' | 'waiting_for_worker' | 'done' | 'dead';
  readonly attempt: number;
  /** The value that its handler last passed to `progress`. */
  readonly progress?: unknown;
  /** The error of the last failed attempt. */
  readonly error?: string;
  /** Unix milliseconds. */
  readonly enqueued_at: number;
  readonly finished_at?: number;
}

/**
 * The jobs of a queue that failed for good.
 *
 * @example
 * import { registerWorker, type DeadLetterQueue } from 'svc-sdk';
 *
 * const dlq: DeadLetterQueue = registerWorker().queue('mail').dlq;
 * for (const { id, error } of await dlq.list()) console.log(id, error);
 * console.log(await dlq.redriveAll(), 'jobs are tried again');
 */
export interface DeadLetterQueue {
  /** Newest first; 50 by default. The limit is 1 000. */
  list(page?: { readonly offset?: number; readonly limit?: number }): Promise<readonly DeadLetter[]>;
  /** Runs one again, with another payload if given. False if it does not exist. */
  redrive(messageReceiptId: string, edited?: { readonly payload: unknown }): Promise<boolean>;
  /** Runs all of them again, oldest first; resolves with their number. */
  redriveAll(): Promise<number>;
  /** Deletes one. False if it does not exist. */
  discard(messageReceiptId: string): Promise<boolean>;
  /** Deletes all of them; resolves with their number. */
  purge(): Promise<number>;
}

/**
 * A job that failed for good.
 *
 * @example
 * import type { DeadLetter } from 'svc-sdk';
 *
 * export const line = ({ id, reason, error }: DeadLetter): string => `${id} ${reason}: ${error}`;
 */
export interface DeadLetter {
  /** The receipt that the caller got for the job. */
  readonly id: string;
  readonly function_id: string;
  readonly payload: Untyped;
  readonly error: string;
  readonly reason: 'failed' | 'fatal' | 'poison' | 'function_not_found' | 'no_subscriber';
  /** Attempts that failed. */
  readonly retries: number;
  readonly deliveries: number;
  /** Unix seconds. */
  readonly failed_at: number;
  readonly size_bytes: number;
}

export function createQueueClient({ trigger }: { readonly trigger: Trigger }, name: string): SvcQueue {
  const call = (id: string, payload: object = {}): Promise<Untyped> =>
    trigger({ function_id: id, payload: { queue: name, ...payload } });
  return {
    name,
    enqueue: (function_id, payload, options) =>
      trigger({
        function_id,
        payload,
        action: Enqueue({ ...options, queue: name }),
      } as never) as Promise<EnqueueReceipt>,
    job: (messageReceiptId) => call('engine::queue::job', { messageReceiptId }),
    pause: () => call('engine::queue::pause').then(() => {}),
    resume: () => call('engine::queue::resume').then(() => {}),
    dlq: {
      list: (page) => call('engine::queue::dlq_messages', page),
      redrive: async (message_id, edited) =>
        (await call('svc::queue::redrive_message', { message_id, ...edited })).redriven === 1,
      redriveAll: async () => (await call('svc::queue::redrive')).redriven,
      discard: async (message_id) => (await call('svc::queue::discard_message', { message_id })).discarded === 1,
      purge: async () => (await call('svc::queue::purge')).discarded,
    },
  };
}
