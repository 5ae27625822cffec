// What a worker reports in addition to its calls: logs, spans of its handlers, measurements. Node provides it
// (`telemetry-node.ts`); a page has none, and logs with calls.

import type { Trigger } from '../calls/call-options.ts';
import type { TraceCarrier } from '../calls/trace-context.ts';
import type { Link } from '../connection/link.ts';
import type { DeliveredCall } from '../wire/wire.ts';
import type { WorkerEvents } from '../worker/events.ts';
import type { Settings } from '../worker/options.ts';
import type { PlatformClock } from '../worker/platform.ts';
import type { LogSink } from './logger.ts';

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
  /** Runs the handler within it. */
  run<Result>(task: () => Result): Result;
  /** `failure`: what the handler threw. Later calls have no effect. */
  end(failure?: { readonly thrown: unknown }): void;
}
