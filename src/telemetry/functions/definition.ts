// The functions of the telemetry threads by id, with what they may read. The router's thread lists them without loading
// their code.

import type { ListedLog, LogHistogram, LogPage, ServiceCount } from '../../core/telemetry/logs/log-list.ts';
import type { LogStore } from '../../core/telemetry/logs/log-store.ts';
import type { CallsAnswer, JobsAnswer } from '../../core/telemetry/metrics/call-answers.ts';
import type { CallHistory } from '../../core/telemetry/metrics/call-history.ts';
import type { EngineCounters } from '../../core/telemetry/metrics/engine-counters.ts';
import type { EngineMetrics } from '../../core/telemetry/metrics/engine-metrics.ts';
import type { EngineAndWorkerMetrics } from '../../core/telemetry/metrics/merge-metrics.ts';
import type { MetricStore } from '../../core/telemetry/metrics/metric-store.ts';
import type { RollupList } from '../../core/telemetry/metrics/rollup.ts';
import type { PayloadStore } from '../../core/telemetry/payloads/payload-store.ts';
import type { PayloadsAnswer } from '../../core/telemetry/payloads/payloads-answer.ts';
import type { MetricRecord, SpanRecord } from '../../core/telemetry/records/records.ts';
import type { MissingEngine, Retention } from '../../core/telemetry/records/retention.ts';
import type { TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import type { RunPage } from '../../core/telemetry/spans/runs.ts';
import type { SpanStore } from '../../core/telemetry/spans/span-store.ts';
import type { TraceEdges } from '../../core/telemetry/spans/trace-edges.ts';
import type { Facet, SpanGroup } from '../../core/telemetry/spans/trace-groups.ts';
import type { TracePage } from '../../core/telemetry/spans/trace-list.ts';
import type { TreeSpan } from '../../core/telemetry/spans/trace-tree.ts';
import type { DiskHistory } from '../disk-history.ts';

export type FunctionId = keyof typeof DESCRIPTIONS;

/** What the functions answer. The console reads these types, and `src/validators/console-answers.ts` compiles them. */
export interface TelemetryAnswers {
  'engine::traces::list': TracePage & Page & Retained & Merged;
  'engine::traces::tree': { roots: readonly TreeSpan[]; span_count: number } & Retained & Merged;
  'engine::traces::span': { span: SpanRecord & { duration_ms: number } } & Merged;
  'engine::traces::clear': Cleared;
  'engine::traces::group_by': SpanGroups & Merged;
  'engine::traces::edges': TraceEdges;
  'engine::traces::runs': RunPage & Page & Retained & Merged;
  'engine::traces::payloads': PayloadsAnswer & Merged;
  'engine::traces::facets': { facets: readonly Facet[]; services: string[] } & Merged;
  'engine::logs::list': LogPage & { query?: unknown; timestamp: number } & Merged;
  'engine::logs::clear': Cleared;
  'engine::logs::search': LogPage & { services: readonly ServiceCount[]; timestamp: number } & Partial<Retained> &
    Merged;
  'engine::logs::histogram': LogHistogram & Merged;
  'engine::logs::context': { logs: readonly ListedLog[]; log_id: number };
  'engine::metrics::list': EngineAndWorkerMetrics & Merged;
  'engine::metrics::calls': CallsAnswer & Merged;
  'engine::metrics::jobs': JobsAnswer & Merged;
  'engine::metrics::prometheus': { text: string };
  'engine::rollups::list': RollupList & { level: number; query: unknown; timestamp: number };
}

interface Page {
  offset: number;
  limit: number;
}

/** Absent where nothing is kept. */
interface Retained {
  retention: Retention;
}

/** An answer for all engines of a cluster. */
interface Merged {
  /** Absent: all engines have answered. */
  missing_engines?: readonly MissingEngine[];
}

interface Cleared {
  success: boolean;
  message?: string;
}

interface SpanGroups {
  groups: readonly SpanGroup[];
  /** The time from which on all spans are stored. */
  since_ms: number | null;
  storage: { spans: number; bytes: number };
}

/** A store that is undefined is not kept: its records are exported only, or dropped. */
export interface TelemetryStores {
  readonly nowMs: number;
  /** When the thread began, before anything was observed. */
  readonly startedMs: number;
  readonly settings: TelemetrySettings;
  /** The answer will be merged with those of other engines. */
  readonly isPart: boolean;
  readonly spans: SpanStore | undefined;
  /** Of the spans. */
  readonly payloads: PayloadStore | undefined;
  readonly logs: LogStore | undefined;
  /** Set where spans and logs are kept on the disk too. */
  readonly disk: DiskHistory | undefined;
  readonly metrics: MetricStore | undefined;
  readonly counters: EngineCounters;
  readonly functions: EngineMetrics;
  readonly history: CallHistory;
  /** The current counts of both, in the shape of metrics of workers. */
  readonly engineMetrics: () => readonly MetricRecord[];
}

export interface TelemetryFunction<Id extends FunctionId = FunctionId> {
  readonly id: Id;
  run(payload: unknown, stores: TelemetryStores): TelemetryAnswers[Id];
}

export const DESCRIPTIONS = {
  'engine::traces::list': 'Lists traces by their root spans, filtered and sorted',
  'engine::traces::tree': 'Shows the spans of a trace under their parents',
  'engine::traces::span': 'Shows one span of a trace',
  'engine::traces::clear': 'Forgets all stored spans',
  'engine::traces::group_by': 'Counts and times spans by the value of an attribute',
  'engine::traces::edges': 'Counts which functions called which functions, queues, states and streams',
  'engine::traces::runs': 'Lists the stored runs of a function, newest first',
  'engine::traces::payloads': 'Shows the input and the output of one call, where they are kept',
  'engine::traces::facets': 'Lists attribute keys with their frequent values, and services, of stored spans',
  'engine::logs::list': 'Lists log records, newest first',
  'engine::logs::clear': 'Forgets all stored log records',
  'engine::logs::search': 'Finds log records: words, "phrase", -not, service:, severity>=warn, attr.key=value, /regex/',
  'engine::logs::histogram': 'Counts log records by time and severity; takes the filters of engine::logs::search',
  'engine::logs::context': 'Lists what was logged before and after a record, oldest first',
  'engine::metrics::list': 'Shows counts and times of calls, counts of workers, and the metrics of workers',
  'engine::metrics::calls': 'Counts the calls of each function in a window of time, in equal parts',
  'engine::metrics::jobs': 'Counts the jobs of each queue in a window of time, in equal parts',
  'engine::metrics::prometheus': 'Shows the metrics of engine and workers in the text format of Prometheus',
  'engine::rollups::list': 'Lists metrics of the last hour, six hours or week in buckets',
} as const satisfies Record<keyof TelemetryAnswers, string>;

/** In a cluster their answers cover all engines. `merge.ts` merges them. */
export const MERGED_FUNCTIONS = [
  'engine::traces::list',
  'engine::traces::tree',
  'engine::traces::span',
  'engine::traces::payloads',
  'engine::traces::runs',
  'engine::logs::list',
  'engine::logs::search',
  'engine::logs::histogram',
  'engine::traces::facets',
  'engine::traces::group_by',
  'engine::metrics::list',
  'engine::metrics::calls',
  'engine::metrics::jobs',
  'engine::rollups::list',
] as const satisfies readonly FunctionId[];

export const LOGS_CONTEXT = 'engine::logs::context';
export const ROLLUPS_LIST = 'engine::rollups::list';
