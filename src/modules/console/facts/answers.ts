// The shapes in which functions of other modules answer, as far as the console reads them. `src/validators` compiles
// them.

import type { QueueJobState, QueueSecret } from '../../../console-api/queues.ts';
import type { StateRow } from '../../../console-api/states.ts';
import type { HealthWord } from '../../../console-api/system.ts';
import type { FailedAttempt } from '../../../core/queue/shapes.ts';
import type { LogRecord, SpanRecord, TraceStatusWord } from '../../../core/telemetry/records/records.ts';

/** `engine::traces::group_by`. */
export interface SpanGroups {
  groups: {
    value: string;
    span_count: number;
    error_count: number;
    p50_duration_ms: number;
    p95_duration_ms: number;
    last_seen_ms: number;
    last_error_ms?: number;
    last_error?: string;
    parts?: { span_count: number; error_count: number; duration_ms: number }[];
  }[];
  /** The time from which on all spans are stored. */
  since_ms: number | null;
}

/** `engine::metrics::list`, for metrics of workers. */
export interface WorkerGauges {
  sdk_metrics: {
    name: string;
    data_points: { value?: number; attributes: [string, string][]; timestamp_unix_nano: number }[];
  }[];
}

/** `state::list` with `preview_bytes`. */
export interface StateEntries {
  entries: StateRow[];
  next: string | null;
}

/** `stream::list_all`. */
export interface StreamList {
  stream: { id: string; groups: string[] }[];
}

/** `engine::queue::list`. Totals count since the engine started. */
export type QueueList = {
  name: string;
  type: 'standard' | 'fifo' | null;
  adapter: string;
  not_told: QueueSecret[];
  waiting: number;
  delayed: number;
  retrying: number;
  waiting_for_worker: number;
  running: number;
  dead: number;
  paused: boolean;
  concurrency: number;
  subscribers: number;
  enqueued_total: number;
  finished_total: number;
  failed_total: number;
  in_per_s: number;
  out_per_s: number;
  oldest_waiting_ms: number | null;
}[];

/** `engine::queue::dlq_groups`; times in seconds. */
export interface DeadGroupList {
  groups: { error: string; newest_id: string; count: number; first_failed_at: number; last_failed_at: number }[];
  scanned: number;
}

/** `engine::queue::topic_stats`. */
export interface TopicStats {
  dlq_depth: number;
  config: {
    max_retries: number;
    backoff_ms: number;
    job_timeout_ms: number;
    message_group_field: string | null;
  } | null;
}

export interface QueueJob {
  messageReceiptId: string;
  queue: string;
  function_id: string;
  state: QueueJobState;
  attempt: number;
  enqueued_at: number;
  due_at?: number;
  error?: string;
  size_bytes: number;
  finished_at?: number;
  progress?: unknown;
  group?: string;
  attempts?: FailedAttempt[];
  edited_at?: number;
}

/** `engine::queue::groups`. */
export interface FifoGroups {
  groups: { value: string | null; jobs: number; head: QueueJob }[];
  complete: boolean;
}

/** `engine::queue::jobs`. */
export interface JobList {
  items: QueueJob[];
  next_cursor: string | null;
}

/** `engine::queue::dlq_messages`. */
export type DeadLetters = {
  id: string;
  function_id: string;
  error: string;
  reason: string;
  failed_at: number;
  first_failed_at: number;
  retries: number;
  enqueued_at: number;
  size_bytes: number;
  group?: string;
  payload?: unknown;
}[];

/** `engine::traces::list`. */
export interface TracePage {
  spans: TraceListRow[];
  total: number;
}

export interface TraceListRow extends SpanRecord {
  duration_ms: number;
  span_count: number;
  services: string[];
  has_error: boolean;
  error_count?: number;
  trace_status?: TraceStatusWord;
  /** The span that was found by attributes, where it is not the root. */
  found?: {
    start_time_unix_nano: number;
    duration_ms: number;
    status: string;
    status_description?: string;
  };
}

export interface TreeSpan extends SpanRecord {
  children: TreeSpan[];
  /** Descendants that were left out because they are too deep. */
  hidden_count?: number;
}

/** `engine::traces::tree`. */
export interface SpanTree {
  roots: TreeSpan[];
}

export interface ListedLog extends LogRecord {
  /** The id of this run of the engine. */
  log_id: number;
}

/** `engine::logs::context`. */
export interface LogList {
  logs: ListedLog[];
}

/** `engine::logs::search`. */
export interface LogPage extends LogList {
  total: number;
  services: { service_name: string; count: number }[];
}

/** `engine::logs::histogram`. */
export interface HistogramAnswer {
  buckets: {
    start_ms: number;
    end_ms: number;
    counts: { TRACE: number; DEBUG: number; INFO: number; WARN: number; ERROR: number };
  }[];
  start_ms: number;
  end_ms: number;
  bucket_ms: number;
}

/** `engine::traces::edges`. */
export interface EdgesAnswer {
  edges: {
    from: string;
    to: { kind: 'function' | 'queue' | 'state' | 'stream'; name: string };
    calls: number;
    errors: number;
  }[];
  since_ms: number | null;
}

/** `engine::traces::facets`. */
export interface FacetsAnswer {
  facets: { key: string; values: { value: string; count: number }[] }[];
}

/** `engine::triggers::fire`. */
export interface FiredTrigger {
  id: string;
  trigger_type: string;
  function_id: string;
  payload?: unknown;
  trace_id?: string | null;
}

/** `engine::events::emit`. */
export interface Emission {
  topic: string;
  triggers: { id: string; function_id: string; trace_id?: string | null }[];
}

/** The answer to an update of state or of a stream item. */
export interface Updated {
  old_value: unknown;
  new_value: unknown;
  errors?: { op_index: number; code: string; message: string; doc_url?: string }[];
}

/** `engine::health::check`. */
export interface HealthAnswer {
  status: HealthWord;
  components: {
    otel?: { status: HealthWord; details?: { exporter?: string; service_name?: string } | null };
    metrics?: { status: HealthWord };
    logs?: { status: HealthWord };
    spans?: { status: HealthWord };
  };
}
