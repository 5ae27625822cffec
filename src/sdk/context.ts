// What a handler may know about its invocation (SDK-3). The class behind it is in `invocation.ts`.

import type { TraceIds } from './baggage.ts';
import type { Logger } from './logger.ts';
import type { SvcWorker } from './svc-worker.ts';

/**
 * Second argument of every handler. It may be ignored: nothing in it costs anything before it is read, and calls
 * made inside a handler belong to the same trace without passing it on.
 *
 * @example
 * import { registerWorker, type HandlerContext } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * svc.registerFunction('mirror::fetch', async (url: string, { signal, attempt }: HandlerContext) => {
 *   const response = await fetch(url, { signal });
 *   return { status: response.status, attempt };
 * });
 */
export interface HandlerContext {
  /** The id under which this handler was called. */
  readonly function_id: string;
  /** Names this one run in the engine. */
  readonly invocation_id: string;
  /** The trigger that fired, if one did and the engine told. */
  readonly trigger: TriggerOrigin | undefined;
  /** The trace this run belongs to and the span above it; undefined when it is not traced. */
  readonly trace: TraceIds | undefined;
  /** For queued jobs: counts from 1. Such handlers must tolerate running twice. */
  readonly attempt: number | undefined;
  /** For queued jobs: the queue. */
  readonly queue: string | undefined;
  /** For queued jobs: the receipt the enqueuing caller got. The same for every attempt. */
  readonly messageReceiptId: string | undefined;
  /**
   * For queued jobs: tells how far the job is, at most 4 KiB of JSON; whoever holds the receipt can read it. Of no
   * effect for calls that are not jobs.
   */
  progress(value: unknown): Promise<void>;
  /** When the caller stops waiting; undefined when it set no limit. */
  readonly deadline: Date | undefined;
  /** Aborted when the deadline passes, or at the end of `drain_timeout_ms`; hand it to `fetch`, timers and streams. */
  readonly signal: AbortSignal;
  /** Logs in the name of this function, as part of its trace. Never throws, never waits. */
  readonly logger: Logger;
  /** Entries that travel with the trace, over all calls of the chain. */
  readonly baggage: ReadonlyMap<string, string>;
  /** 1 where a chain of calls begins, one more for each call that a handler makes. The engine ends a chain at 64. */
  readonly depth: number;
  /** The worker this handler belongs to: to call other functions from code that did not create it. */
  readonly worker: SvcWorker;
  /** What caller or trigger sent beside the payload. */
  readonly metadata: unknown;
}

/**
 * The trigger behind an invocation.
 *
 * @example
 * import type { HandlerContext, TriggerOrigin } from 'svc-sdk';
 *
 * export const isCron = (context: HandlerContext): boolean => {
 *   const origin: TriggerOrigin | undefined = context.trigger;
 *   return origin?.type === 'cron';
 * };
 */
export interface TriggerOrigin {
  /** Such as `http` or `cron`. */
  readonly type: string;
  /** The id `registerTrigger` gave it. */
  readonly id: string;
}
