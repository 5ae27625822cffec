// What a worker tells of itself beside its calls: logs, the spans of its handlers, how it is doing. Node brings it
// (`telemetry-node.ts`); a page has none, and logs by calls.

import type { Link } from './link.ts';
import type { LogSink } from './logger.ts';
import type { Settings } from './options.ts';
import type { TraceCarrier } from './outgoing-calls.ts';
import type { PlatformClock } from './platform.ts';
import type { SvcWorker } from './svc-worker.ts';
import type { DeliveredCall } from './wire.ts';

export interface TelemetryParts {
  readonly settings: Settings;
  readonly clock: PlatformClock;
  readonly worker: SvcWorker;
  /** The standing connection, if there is one. */
  readonly link: () => Link | undefined;
}

export interface WorkerTelemetry {
  readonly log: LogSink;
  /** The run of a handler begins; undefined where its trace is not kept. */
  begin?(call: DeliveredCall): HandlerSpan | undefined;
  /** Sends what there is: the connection is about to end. */
  end?(): void;
}

export interface HandlerSpan {
  /** What calls made by the handler carry on. */
  readonly carrier: TraceCarrier;
  /** Runs the handler within it. */
  run<Result>(task: () => Result): Result;
  /** `failure`: what the handler threw. Later ends are of no effect. */
  end(failure?: { readonly thrown: unknown }): void;
}
