// What a worker reports in addition to its calls: logs, spans of its handlers, measurements. Node provides it
// (`telemetry-node.ts`); a page has none, and logs with calls.

import type { TraceCarrier } from '../calls/outgoing-calls.ts';
import type { Link } from '../connection/link.ts';
import type { DeliveredCall } from '../wire/wire.ts';
import type { Settings } from '../worker/options.ts';
import type { PlatformClock } from '../worker/platform.ts';
import type { SvcWorker } from '../worker/svc-worker.ts';
import type { LogSink } from './logger.ts';

export interface TelemetryParts {
  readonly settings: Settings;
  readonly clock: PlatformClock;
  readonly worker: SvcWorker;
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
