// The functions of the telemetry threads by id, with what they may read. The router's thread lists them without loading
// their code.

import type { LogStore } from '../../core/telemetry/logs/log-store.ts';
import type { EngineCounters } from '../../core/telemetry/metrics/engine-counters.ts';
import type { EngineMetrics } from '../../core/telemetry/metrics/engine-metrics.ts';
import type { MetricStore } from '../../core/telemetry/metrics/metric-store.ts';
import type { MetricRecord } from '../../core/telemetry/records/records.ts';
import type { SpanStore } from '../../core/telemetry/spans/span-store.ts';
import type { DiskHistory } from '../disk-history.ts';

export type FunctionId = keyof typeof DESCRIPTIONS;

/** A store that is undefined is not kept: its records are exported only, or dropped. */
export interface TelemetryStores {
  readonly nowMs: number;
  readonly spans: SpanStore | undefined;
  readonly logs: LogStore | undefined;
  /** Set where spans and logs are kept on the disk too. */
  readonly disk: DiskHistory | undefined;
  readonly metrics: MetricStore | undefined;
  readonly counters: EngineCounters;
  readonly functions: EngineMetrics;
  /** The current counts of both, in the shape of metrics of workers. */
  readonly engineMetrics: () => readonly MetricRecord[];
}

export interface TelemetryFunction {
  /** Of `descriptions.ts`. */
  readonly id: FunctionId;
  run(payload: unknown, stores: TelemetryStores): unknown;
}

export const DESCRIPTIONS = {
  'engine::traces::list': 'Lists traces by their root spans, filtered and sorted',
  'engine::traces::tree': 'Shows the spans of a trace under their parents',
  'engine::traces::span': 'Shows one span of a trace',
  'engine::traces::clear': 'Forgets all stored spans',
  'engine::traces::group_by': 'Counts and times spans by the value of an attribute',
  'engine::traces::edges': 'Counts which functions called which functions, queues, states and streams',
  'engine::traces::facets': 'Lists attribute keys with their frequent values, and services, of stored spans',
  'engine::logs::list': 'Lists log records, newest first',
  'engine::logs::clear': 'Forgets all stored log records',
  'engine::logs::search': 'Finds log records: words, "phrase", -not, service:, severity>=warn, attr.key=value, /regex/',
  'engine::logs::histogram': 'Counts log records by time and severity; takes the filters of engine::logs::search',
  'engine::logs::context': 'Lists what was logged before and after a record, oldest first',
  'engine::metrics::list': 'Shows counts and times of calls, counts of workers, and the metrics of workers',
  'engine::metrics::prometheus': 'Shows the metrics of engine and workers in the text format of Prometheus',
  'engine::rollups::list': 'Lists metrics of the last hour, six hours or week in buckets',
} as const;

export const ROLLUPS_LIST = 'engine::rollups::list';
