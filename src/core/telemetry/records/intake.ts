// The way of observed data from the router's thread to the telemetry thread.
//
//   router, modules ──► Collector (collector.ts): cheap buffers, decides what is sampled
//     ──► TelemetryBatch, after 50 ms with a log record, else 250 ms or 1 024 spans
//     ──► TelemetrySink of the module observability
//     ──► telemetry thread: BatchOpener (open-batch.ts) turns it into the records of records.ts
//
// The router's thread builds no records: spans are rows of plain values, frames of workers are the received bytes. The
// telemetry thread opens a batch with `BatchOpener`, keeps the records, and answers queries.
//
// The module observability creates the collector, passes it to the router (`RouterPort.observe`), calls
// `Collector.flush()` before it sends the telemetry thread a question, so that an answer covers everything that
// happened before the question, and adds logs of `engine::log::*` with `Collector.log()`. Without it
// `RouterContext.observer` is undefined, and a call pays one read of that field.
//
// The engine's own lines: `logger.observe` with `recordOfLine` (engine-lines.ts), into `Collector.log()`.
//
// O3: a record with `is_quiet` fires no log trigger. Log triggers fire with a cause of `QuietTraces` (quiet-traces.ts),
// whose trace id marks everything that the firing causes, in any worker and language.

import { metricName } from '../metrics/metric-names.ts';
import type { PayloadPair } from '../payloads/payload-capture.ts';
import type { CallEdge } from '../spans/trace-edges.ts';
import type { LogRecord, MetricRecord, SpanRecord } from './records.ts';

/** Takes batches to the telemetry thread. Never throws, never waits. */
export interface TelemetrySink {
  /**
   * The limit of batches in transit is reached: the collector keeps gathering, and drops and counts what is over its
   * bounds.
   */
  readonly isFull: boolean;
  take(batch: TelemetryBatch): void;
}

/** Can be posted to another thread: plain values only. */
export interface TelemetryBatch {
  /** Spans of the engine: ended ones, and those that began a while ago and have not ended. For `BatchOpener` alone. */
  readonly spanRows: readonly (string | number)[];
  /** Inputs and outputs of calls whose spans are in this batch. */
  readonly payloads: readonly PayloadPair[];
  /** Of `engine::log::*` and of the engine's own log lines; already sampled. */
  readonly logs: readonly LogRecord[];
  /** Frames of workers, unread. Their bytes belong to the batch. */
  readonly frames: readonly TelemetryFrame[];
  /** Connections that ended: their pending spans end as errors. */
  readonly goneSources: readonly number[];
  /** Calls since the last batch that had any. */
  readonly calls: readonly CallCounts[];
  /** The same for attempts of jobs, by queue in place of the function. */
  readonly jobs: readonly CallCounts[];
  /** Since the last batch. */
  readonly workers: WorkerCounts;
}

export type TelemetryKind = 'OTLP' | 'MTRC' | 'LOGS';

export interface TelemetryFrame {
  readonly kind: TelemetryKind;
  /** The connection of the frame. */
  readonly source: number;
  /** OTLP/JSON, without the prefix. */
  readonly bytes: Uint8Array;
}

export interface WorkerCounts {
  readonly spawns: number;
  readonly deaths: number;
}

/** Calls of one function. The total is ok + error + deferred (modules 11.6, PD-45). */
export interface CallCounts {
  /** `other` for functions beyond the label sets that a metric may have. */
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
  /** One more than `DURATION_BOUNDS_MS`: the last counts calls that took longer than all bounds. */
  readonly buckets: readonly number[];
}

/** The upper ends of the buckets, inclusive, as in OTLP. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
];

/** What a connection reported about its process; `null`: the connection ended. */
export type SourceGauges = readonly [source: number, gauges: WorkerGauges | null];

/** The content of a batch, as records. */
export interface OpenedBatch {
  /** A `pending` one is replaced by a later one with the same ids. */
  readonly spans: readonly SpanRecord[];
  readonly logs: readonly LogRecord[];
  readonly metrics: readonly MetricRecord[];
  readonly calls: readonly CallCounts[];
  /** Of jobs, by queue. */
  readonly jobs: readonly CallCounts[];
  /** Of the engine's spans: what called what. */
  readonly edges: readonly CallEdge[];
  readonly workers: WorkerCounts;
  readonly gauges: readonly SourceGauges[];
  /** Unreadable frames, and data that was cut or left out, by reason: to be counted as `telemetry.dropped`. */
  readonly dropped: readonly DroppedTelemetry[];
}

export interface DroppedTelemetry {
  readonly kind: 'spans' | 'logs' | 'metrics' | 'payloads';
  readonly reason: string;
  readonly count: number;
}

/** The attributes of all records of the engine itself. */
export interface ServiceIdentity {
  readonly serviceName: string;
  readonly engineVersion: string;
  /** `service.name`, and `service.namespace`, `service.version`, `deployment.environment` where known. */
  readonly resource: Readonly<Record<string, string>>;
}

/** Figures of a worker's process, for `latest_metrics` of its record (modules 10.3). */
export interface WorkerGauges {
  readonly memory_heap_used?: number;
  readonly memory_heap_total?: number;
  readonly memory_rss?: number;
  readonly memory_external?: number;
  readonly cpu_user_micros?: number;
  readonly cpu_system_micros?: number;
  readonly cpu_percent?: number;
  readonly event_loop_lag_ms?: number;
  readonly uptime_seconds?: number;
  readonly timestamp_ms: number;
}

const PREFIX = 'svc.worker.';
const NAMES: Readonly<Record<string, Exclude<keyof WorkerGauges, 'timestamp_ms'>>> = {
  'memory.heap_used': 'memory_heap_used',
  'memory.heap.bytes': 'memory_heap_used',
  'memory.heap_total': 'memory_heap_total',
  'memory.rss': 'memory_rss',
  'memory.rss.bytes': 'memory_rss',
  'memory.external': 'memory_external',
  'cpu.user_micros': 'cpu_user_micros',
  'cpu.system_micros': 'cpu_system_micros',
  'cpu.percent': 'cpu_percent',
  'event_loop.lag_ms': 'event_loop_lag_ms',
  'event_loop.lag.ms': 'event_loop_lag_ms',
  uptime_seconds: 'uptime_seconds',
  'uptime.seconds': 'uptime_seconds',
};

/**
 * The figures of the process that sent the frame, from the gauges that SDKs send under any of their names. Undefined
 * where the frame has none.
 */
export function readWorkerGauges(metrics: readonly MetricRecord[]): WorkerGauges | undefined {
  const found: Partial<Record<keyof WorkerGauges, number>> = {};
  let timeNano = 0;
  for (const { name: given, metric_type: type, data_points: points } of metrics) {
    const name = metricName(given, 'svc');
    if (type !== 'gauge' || !name.startsWith(PREFIX)) continue;
    const field = NAMES[name.slice(PREFIX.length)];
    const point = points.at(-1);
    if (field === undefined || point === undefined || !('value' in point)) continue;
    found[field] = point.value;
    timeNano = Math.max(timeNano, point.timestamp_unix_nano);
  }
  return timeNano === 0 ? undefined : { ...found, timestamp_ms: Math.round(timeNano / 1e6) };
}
