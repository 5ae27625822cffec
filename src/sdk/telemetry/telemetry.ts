// What a worker reports in addition to its calls: logs, spans of its handlers, measurements. Node provides it
// (`telemetry-node.ts`); a page has none, and logs with calls. The logger of a handler (SDK-9) never throws and never
// waits. A value that it cannot keep as it is becomes text.

import type { Trigger } from '../calls/call-types.ts';
import type { TraceCarrier } from '../calls/trace-context.ts';
import type { Link } from '../connection/link.ts';
import type { DeliveredCall } from '../wire/wire.ts';
import type { WorkerEvents } from '../worker/events.ts';
import type { Settings } from '../worker/options.ts';
import type { PlatformClock } from '../worker/platform.ts';

/** The part of a worker that its telemetry uses. */
export interface ObservedWorker {
  readonly name: string;
  readonly trigger: Trigger;
  on(name: keyof WorkerEvents, listener: () => void): () => void;
}

export interface TelemetryOptions {
  readonly settings: Settings;
  readonly clock: PlatformClock;
  readonly worker: ObservedWorker;
  /** The connection, while it is up. */
  readonly link: () => Link | undefined;
}

export interface WorkerTelemetry {
  readonly log: LogSink;
  /** The run of a handler begins; undefined if its trace is not kept. */
  begin?(call: DeliveredCall): HandlerSpan | undefined;
  /** Sends everything gathered: the connection is about to end. */
  end?(): void;
}

export interface HandlerSpan {
  /** The trace context for calls that the handler makes. */
  readonly carrier: TraceCarrier;
  /** Runs the handler within it. Absent: the carrier is all of its context. */
  run?<Result>(task: () => Result): Result;
  /** `failure`: what the handler threw. Later calls have no effect. */
  end(failure?: { readonly thrown: unknown }): void;
}

/**
 * The levels of `engine::log::*`, the least important first.
 *
 * @example
 * import { registerWorker, type LoggerLevel } from 'svc-sdk';
 *
 * const level: LoggerLevel = process.env.LOUD ? 'info' : 'debug';
 * registerWorker().logger[level]('started');
 */
export type LoggerLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/**
 * A logger whose records belong to a function and its trace. They travel in batches. If there is no room they are
 * dropped; the logger never waits.
 *
 * @example
 * import { type HandlerContext, type Logger, registerWorker } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const logger: Logger = svc.logger;
 * logger.info('started', { pid: 1 });
 * svc.registerFunction('parcels::pack', async ({ sku }: { sku: string }, ctx: HandlerContext) => {
 *   ctx.logger.info('packing', { sku });
 *   return { sku };
 * });
 */
export interface Logger {
  trace(message: string, data?: unknown): void;
  debug(message: string, data?: unknown): void;
  info(message: string, data?: unknown): void;
  warn(message: string, data?: unknown): void;
  error(message: string, data?: unknown): void;
}

/** What a record belongs to. */
export interface LogScope {
  readonly functionId?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly baggage?: string | undefined;
}

/** Takes a record. Must not throw. */
export type LogSink = (level: LoggerLevel, message: string, data: unknown, scope: LogScope | undefined) => void;

/** `scopeNow` is called for each record: the logger of a worker belongs to the handler that uses it. */
export function createLogger(sink: LogSink, scopeNow: () => LogScope | undefined): Logger {
  const at =
    (level: LoggerLevel) =>
    (message: string, data?: unknown): void =>
      sink(level, message, data, scopeNow());
  return { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
