// What the router's thread gathers of what it sees, and how that leaves it.
//
//   router, modules ──► Collector (collector.ts): cheap buffers, decides who is sampled
//     ──► TelemetryBatch, after 50 ms with a log record, else 250 ms or 1 024 spans
//     ──► TelemetrySink of the module observability
//     ──► telemetry thread: BatchOpener (open-batch.ts) makes the records of records.ts of it
//
// The router's thread builds no records: spans are rows of plain values, frames of workers are bytes as they came. The
// telemetry thread opens a batch with `BatchOpener`, keeps what it gets, and answers queries.
//
// The module observability makes the collector, gives it to the router (`RouterPort.observe`), calls
// `Collector.flush()` before it asks the telemetry thread anything, so that an answer holds all that happened before
// the question, and hands in logs of `engine::log::*` with `Collector.log()`. Without it `RouterContext.observer` is
// undefined, and a call pays one look at that field.
//
// The engine's own lines: `logger.observe` with `recordOfLine` (engine-lines.ts), into `Collector.log()`.
//
// O3: a record whose `is_quiet` is set fires no log trigger. Log triggers fire with `quietCause()` (quiet.ts), whose
// trace id says so to everything that the firing causes, in whichever worker and language.

import type { LogRecord, MetricRecord, SpanRecord } from './records.ts';
import type { WorkerGauges } from './worker-gauges.ts';

/** Takes what was gathered to the telemetry thread. Never throws, never waits. */
export interface TelemetrySink {
  /** As much is on its way as may be: the collector keeps gathering, and drops and counts what is over its bounds. */
  readonly isFull: boolean;
  take(batch: TelemetryBatch): void;
}

/** Made to be posted to another thread: plain values only. */
export interface TelemetryBatch {
  /** Spans of the engine: ended ones, and those that began a while ago and have not. For `BatchOpener` alone. */
  readonly spanRows: readonly (string | number)[];
  /** Of `engine::log::*` and of the engine's own log lines; sampled already. */
  readonly logs: readonly LogRecord[];
  /** What workers sent, unread. Their bytes belong to the batch. */
  readonly frames: readonly TelemetryFrame[];
  /** Connections that are gone: spans that they left pending end as errors. */
  readonly goneSources: readonly number[];
  /** What was called since the last batch that had any. */
  readonly calls: readonly CallCounts[];
  /** Since the last batch. */
  readonly workers: WorkerCounts;
}

export type TelemetryKind = 'OTLP' | 'MTRC' | 'LOGS';

export interface TelemetryFrame {
  readonly kind: TelemetryKind;
  /** The connection that it came on. */
  readonly source: number;
  /** OTLP/JSON, without the prefix. */
  readonly bytes: Uint8Array;
}

export interface WorkerCounts {
  readonly spawns: number;
  readonly deaths: number;
}

/** Calls of one function. `total` of product.md is ok + error + deferred (modules 11.6, decisions 45). */
export interface CallCounts {
  /** `other` where more functions were called than a metric may have label sets. */
  readonly functionId: string;
  readonly ok: number;
  readonly error: number;
  /** Void calls and enqueues that were accepted; runs of a job count as ok or error. */
  readonly deferred: number;
  /** By error code. */
  readonly errors: Readonly<Record<string, number>>;
  /** Of calls that ended ok. */
  readonly okDurations: DurationCounts;
  readonly errorDurations: DurationCounts;
}

/** Milliseconds. */
export interface DurationCounts {
  readonly count: number;
  readonly sum: number;
  /** 0 where `count` is 0. */
  readonly min: number;
  readonly max: number;
  /** One more than `DURATION_BOUNDS_MS`: the last is what took longer than all of them. */
  readonly buckets: readonly number[];
}

/** The upper ends of the buckets, each included, as OTLP counts them. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
];

/** What a connection said of its process; `null`: it is gone. */
export type SourceGauges = readonly [source: number, gauges: WorkerGauges | null];

/** What a batch holds, as records. */
export interface OpenedBatch {
  /** A `pending` one is replaced by a later one with the same ids. */
  readonly spans: readonly SpanRecord[];
  readonly logs: readonly LogRecord[];
  readonly metrics: readonly MetricRecord[];
  readonly calls: readonly CallCounts[];
  readonly workers: WorkerCounts;
  readonly gauges: readonly SourceGauges[];
  /** Frames that could not be read, and what was cut or left out, by reason: to be counted as `telemetry.dropped`. */
  readonly dropped: readonly DroppedTelemetry[];
}

export interface DroppedTelemetry {
  readonly kind: 'spans' | 'logs' | 'metrics';
  readonly reason: string;
  readonly count: number;
}

/** What all records of the engine itself carry. */
export interface ServiceFacts {
  readonly serviceName: string;
  readonly engineVersion: string;
  /** `service.name`, and `service.namespace`, `service.version`, `deployment.environment` where known. */
  readonly resource: Readonly<Record<string, string>>;
}
