// Traces, logs, metrics, alerts and sampling. Times are Unix milliseconds unless the name contains `unix_nano`.

import type { LogRecord, SpanRecord, TraceStatusWord } from '../../core/telemetry/records/records.ts';
import type { MissingEngine, Retention } from '../../core/telemetry/records/retention.ts';
import type { List, ListQuery } from './envelope.ts';

/** One trace: its root span and a summary of the other spans. */
export interface TraceRow {
  trace_id: string;
  root_span_id: string | null;
  name: string;
  service_name: string;
  status: TraceStatusWord;
  start_time_unix_nano: number;
  duration_ms: number;
  span_count: number;
  error_count: number;
  services: string[];
  internal: boolean;
}

/** The parameters of `engine::traces::list`; `sort`: `start_time` (default, newest first), `duration`, `name`. */
export interface TraceSearch extends ListQuery {
  trace_id?: string;
  service_name?: string;
  name?: string;
  /** Looks for `name` in all spans of a trace. The default is true. */
  search_all_spans?: boolean;
  status?: string;
  min_duration_ms?: number;
  max_duration_ms?: number;
  start_time?: number;
  end_time?: number;
  attributes?: [key: string, value: string][];
  exclude_attributes?: [key: string, value: string][];
  include_internal?: boolean;
  function_id?: string;
}

export interface TraceQuery {
  max_depth?: number;
  /** Only the spans below this one. */
  parent?: string;
}

/** A span in a list. Above 20 000 spans it has no `attributes` and `events`; those are read one span at a time. */
export interface SpanRow extends SpanRecord {
  child_count: number;
}

export interface TraceDetail {
  trace_id: string;
  status: TraceStatusWord;
  /** In the order of their start. */
  spans: SpanRow[];
  /** Of the whole trace, also where `spans` holds only some levels. */
  span_count: number;
  /** Attributes and events were left out. */
  condensed: boolean;
}

/** The runs of one function, newest first. */
export interface RunsQuery extends ListQuery {
  errors?: boolean;
  start_time?: number;
  end_time?: number;
}

/** The `error.details` of a trace that is not stored. */
export interface MissingTrace {
  retention: Retention;
}

/** A list of observed data, with what is stored of it. */
export interface RetainedList<T> extends List<T> {
  retention?: Retention;
  /** Engines of the cluster that gave no answer. */
  missing_engines?: readonly MissingEngine[];
}

export interface TraceFacets {
  services: { value: string; count: number }[];
  names: { value: string; count: number }[];
  attributes: { key: string; values: { value: string; count: number }[] }[];
}

/** `svc.export.v1`. The answer of `GET /traces/{id}/export?format=otlp|chrome` is the format's own document. */
export type TraceExportFormat = 'otlp' | 'chrome';

export interface LogRow extends LogRecord {
  /** For `since`, selection and `around`. */
  id: string;
}

/** Newest first unless `order` is `asc`. */
export interface LogSearch extends ListQuery {
  start_time?: number;
  end_time?: number;
  trace_id?: string;
  span_id?: string;
  severity_min?: number;
  severities?: string[];
  service_name?: string;
  /** The query language of LOG-4. */
  q?: string;
  /** Returns `before` and `after` records around this one, without the other filters. */
  around?: { id: string; before: number; after: number };
}

export interface LogHistogramRequest extends Omit<LogSearch, 'around'> {
  buckets?: number;
}

export interface LogHistogram {
  start_time: number;
  end_time: number;
  bucket_ms: number;
  buckets: { start: number; trace: number; debug: number; info: number; warn: number; error: number }[];
  services: { value: string; count: number }[];
}

export interface Cleared {
  success: boolean;
}

export interface MetricsQuery {
  start_time?: number;
  end_time?: number;
  metric_name?: string;
  /** Seconds. */
  aggregate_interval?: number;
}

export interface EngineMetrics {
  invocations: {
    total: number;
    success: number;
    error: number;
    deferred: number;
    by_function: Record<string, number>;
  };
  workers: { spawns: number; deaths: number; active: number };
  performance: {
    avg_duration_ms: number;
    p50_duration_ms: number;
    p95_duration_ms: number;
    p99_duration_ms: number;
    min_duration_ms: number;
    max_duration_ms: number;
  };
}

export interface Metrics {
  engine_metrics: EngineMetrics;
  sdk_metrics: unknown[];
  aggregated_metrics?: unknown[];
  timestamp: number;
  query?: unknown;
}

/** `points`: about how many equal parts; without it the sums only. */
export interface CallsQuery {
  start_time?: number;
  end_time?: number;
  points?: number;
  function_id?: string;
  /** Also who called whom. */
  edges?: boolean;
}

/** The same, by queue. */
export interface JobCountsQuery {
  start_time?: number;
  end_time?: number;
  points?: number;
  queue?: string;
}

export interface RollupsQuery {
  start_time?: number;
  end_time?: number;
  level?: number;
  metric_name?: string;
}

export interface Rollups {
  rollups: readonly unknown[];
  histogram_rollups: readonly unknown[];
  level?: number;
  query?: unknown;
  timestamp?: number;
  source?: string;
  message?: string;
}

export interface AlertRow {
  name: string;
  metric: string;
  firing: boolean;
  enabled: boolean;
  threshold: number;
  operator: string;
  window_seconds: number;
  cooldown_seconds: number;
  current_value: number | null;
  last_evaluated: number | null;
  last_triggered: number | null;
}

export interface Alerts {
  alerts: AlertRow[];
  firing_count: number;
  timestamp: number;
}

export interface AlertsEvaluated {
  evaluated: boolean;
  triggered_alerts: { name: string; metric: string; value: number; threshold: number; operator: string }[];
  timestamp: number;
}

export interface Sampling {
  traces: {
    default_ratio: number;
    rules: { operation?: string | null; service?: string | null; rate: number }[];
    parent_based: boolean;
    rate_limit?: unknown;
  };
  logs: { sampling_ratio: number };
  timestamp: number;
}
