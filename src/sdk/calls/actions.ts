// The three ways to deliver a call: with an answer (no action), through a queue, or without waiting.

import type { EnqueueAction } from '../../protocol/frames/frames.ts';
import { SvcError } from './errors.ts';

/**
 * How a job is queued.
 *
 * @example
 * import { Enqueue, type EnqueueOptions } from 'svc-sdk';
 *
 * const nightly: EnqueueOptions = { queue: 'reports', delay_ms: 60_000, priority: 5 };
 * export const action = Enqueue(nightly);
 */
export interface EnqueueOptions {
  /** A queue named in the engine's configuration; `default` always exists. */
  readonly queue: string;
  /** For 24 h the same key in the same queue returns the first receipt instead of a second job. 1 to 256 bytes. */
  readonly idempotency_key?: string;
  /** Earliest start, counted from the moment the engine accepts the job. The limit is a year. */
  readonly delay_ms?: number;
  /** 0 to 255, default 0. A higher priority runs first; jobs of one priority keep their order. */
  readonly priority?: number;
}

/**
 * The answer to an enqueued call: the job is on disk, not done.
 *
 * @example
 * import { Enqueue, registerWorker, type EnqueueReceipt } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const receipt: EnqueueReceipt = await svc.trigger({
 *   function_id: 'mail::send',
 *   payload: { to: 'x@example.org' },
 *   action: Enqueue({ queue: 'mail' }),
 * });
 * console.log(receipt.messageReceiptId);
 */
export interface EnqueueReceipt {
  readonly messageReceiptId: string;
  /** The same as `messageReceiptId`. */
  readonly receiptId: string;
}

/**
 * What `Enqueue` returns.
 *
 * @example
 * import { Enqueue, type EnqueueCall } from 'svc-sdk';
 *
 * export const toMailQueue: EnqueueCall = Enqueue({ queue: 'mail' });
 */
export type EnqueueCall = Readonly<EnqueueAction>;

/**
 * What `Void` returns.
 *
 * @example
 * import { Void, type VoidCall } from 'svc-sdk';
 *
 * export const notWaited: VoidCall = Void();
 */
export interface VoidCall {
  readonly type: 'void';
}

/**
 * Any delivery other than waiting for the answer.
 *
 * @example
 * import { Enqueue, Void, type Action } from 'svc-sdk';
 *
 * export const delivery = (reliable: boolean): Action => (reliable ? Enqueue({ queue: 'mail' }) : Void());
 */
export type Action = EnqueueCall | VoidCall;

/**
 * Delivers a call through a named queue: at least once, with retries. The call is answered with a receipt as
 * soon as the job is on disk.
 *
 * @example
 * import { Enqueue, registerWorker } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * await svc.trigger({ function_id: 'mail::send', payload: { to: 'x@y.z' }, action: Enqueue({ queue: 'mail' }) });
 */
export function Enqueue(options: EnqueueOptions): EnqueueCall {
  const { queue, idempotency_key, delay_ms, priority } = options;
  if (typeof queue !== 'string' || queue === '') {
    throw new SvcError('INVALID_ARGUMENTS', `Enqueue: queue is ${JSON.stringify(queue)}, expected the name of a queue`);
  }
  if (delay_ms !== undefined && !(Number.isSafeInteger(delay_ms) && delay_ms >= 0)) {
    throw new SvcError('INVALID_ARGUMENTS', `Enqueue: delay_ms is ${delay_ms}, expected whole milliseconds from 0`);
  }
  if (priority !== undefined && !Number.isSafeInteger(priority)) {
    throw new SvcError('INVALID_ARGUMENTS', `Enqueue: priority is ${priority}, expected a whole number`);
  }
  return {
    type: 'enqueue',
    queue,
    ...(idempotency_key === undefined ? {} : { idempotency_key }),
    ...(delay_ms === undefined ? {} : { delay_ms }),
    ...(priority === undefined ? {} : { priority }),
  };
}

/**
 * Delivers a call once, best effort, without waiting. The caller does not learn whether it worked.
 *
 * @example
 * import { registerWorker, Void } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * await svc.trigger({ function_id: 'stats::count', payload: { page: '/' }, action: Void() });
 */
export function Void(): VoidCall {
  return VOID;
}

const VOID: VoidCall = { type: 'void' };
