// The live socket, `GET /live`: JSON text frames, one socket for each tab (LIV-1).

import type { SpanRecord } from '../../core/telemetry/records/records.ts';
import type { JsonType } from './envelope.ts';
import type { JobRow, QueueRow, Task } from './queues.ts';
import type { FunctionRow, TriggerRow, WorkerRow } from './registry.ts';
import type { Counts, HealthWord } from './system.ts';
import type { LogRow, TraceRow } from './telemetry.ts';

export const LIVE_BATCH = { ms: 100, items: 256, bytes: 64 * 1024 } as const;
/** Larger values are left out of `state:` and `stream:` items. */
export const LIVE_VALUE_BYTES_MAX = 64 * 1024;

export type LiveRequest =
  | { op: 'auth'; token: string }
  | { op: 'sub'; id: number; topic: string; filter?: LiveFilter; since?: string }
  | { op: 'unsub'; id: number };

/** A member that the topic does not know is refused. */
export interface LiveFilter {
  /** `logs` */
  severity_min?: number;
  q?: string;
  service_name?: string;
  trace_id?: string;
  /** `traces` */
  name?: string;
  status?: string;
  include_internal?: boolean;
  function_id?: string;
  min_duration_ms?: number;
  max_duration_ms?: number;
  attributes?: [key: string, value: string][];
  /** `state:<scope>` */
  key?: string;
  prefix?: string;
  /** `streams` */
  system?: boolean;
  direction?: 'inbound' | 'outbound';
}

export type LiveFrame<T = unknown> =
  | LiveItems<T>
  | { id: number; seq: number; gap: { dropped: number } }
  | { id?: number; error: { code: string; message: string } }
  /** The first frame after `sub` was accepted. `cursor` is before every item that follows. */
  | { id: number; seq: 0; subscribed: { topic: string; cursor: string | null } };

export interface LiveItems<T> {
  id: number;
  /** Counts from 1, without holes on one subscription. */
  seq: number;
  items: T[];
  /** Where this batch ends: send it as `since` to continue after it. */
  cursor?: string;
}

/** The items of each topic. Names in topics are percent-encoded, as in paths. */
export interface LiveTopics {
  counters: CountersItem;
  health: HealthItem;
  registry: RegistryItem;
  queues: QueueRow;
  [queue: `queue:${string}`]: JobChange;
  logs: LogRow;
  traces: TraceRow;
  [trace: `trace:${string}`]: SpanRecord;
  [scope: `state:${string}`]: StateChange;
  streams: StreamTap;
  [stream: `stream:${string}`]: StreamTap;
  [task: `task:${string}`]: Task;
}

/** Sent once a second. Rates are of the last second, percentiles of the last minute. `null` without metrics. */
export interface CountersItem extends Counts {
  at: number;
  /** Rates and durations are those of the last minute. `null`: nothing is counted here. */
  calls_per_s: number | null;
  errors_per_s: number | null;
  p50_ms: number | null;
  p95_ms: number | null;
  p99_ms: number | null;
  queue_depth: number | null;
  in_flight: number;
  rss_bytes: number;
  event_loop_delay_ms: number | null;
}

/** A change of the engine's health. A subscription starts with one item of each kind. */
export type HealthItem =
  | { kind: 'engine'; status: HealthWord; draining: boolean }
  | { kind: 'module'; name: string; status: HealthWord; adapter: string | null; reason: string | null }
  | { kind: 'overload'; level: number; reasons: string[] }
  | { kind: 'alert'; name: string; firing: boolean; value: number | null }
  | { kind: 'config'; ok: boolean; message: string; at: number };

/** `version` rises by one with each item. If one is missing, read the list again. */
export type RegistryItem = { version: number } & (
  | { object: 'function'; change: 'added' | 'changed'; id: string; row: FunctionRow }
  | { object: 'trigger'; change: 'added' | 'changed'; id: string; row: TriggerRow }
  | { object: 'worker'; change: 'added' | 'changed'; id: string; row: WorkerRow }
  | { object: 'function' | 'trigger' | 'worker'; change: 'removed'; id: string }
);

/** `job` is null when the job left the queue. */
/** `id` is `null` where jobs changed that are not followed one by one, and once at the start. */
export interface JobChange {
  at: number;
  id: string | null;
  job: JobRow | null;
  figures: QueueRow;
}

/** `old_value` and `new_value` are left out above 64 KiB. `size` and `old_size` are always present. */
export interface StateChange {
  at: number;
  scope: string;
  key: string;
  change: 'set' | 'deleted';
  version: string | null;
  type: JsonType | null;
  size: number;
  old_size: number;
  old_value?: unknown;
  new_value?: unknown;
}

export interface StreamTap {
  at: number;
  direction: 'inbound' | 'outbound';
  stream: string;
  group: string;
  item: string | null;
  /** `create`, `update`, `delete`, the type of a custom event, `join`, `leave`. */
  event: string;
  bytes: number;
  /** Left out above 64 KiB. */
  payload?: unknown;
  seq: number | null;
  epoch: string | null;
  /** How many clients received it. */
  receivers: number;
}
