// What is registered: functions, triggers and workers, and the calls that a user makes by hand.

import type { ListQuery, ModuleRef } from './envelope.ts';

/** Of a window of time: by default the last five minutes. Counted, and independent of stored traces. */
export interface FunctionFigures {
  calls_per_minute: number;
  /** 0 to 1. */
  error_rate: number;
  /** Within that time. */
  calls: number;
  errors: number;
  p50_ms: number | null;
  p95_ms: number | null;
  p99_ms: number | null;
  last_call_at: number | null;
  last_error_at: number | null;
  last_error: string | null;
  /** `null`, like the span, where no trace of it was kept. */
  last_error_trace: string | null;
  /** That time in fifteen parts, oldest first. Only in a list that was asked for it. */
  recent?: RecentCalls[];
}

export interface RecentCalls {
  calls: number;
  errors: number;
  /** Milliseconds spent in these calls. */
  total_ms: number;
}

export interface FunctionRow {
  function_id: string;
  worker_name: string;
  description: string | null;
  status: 'active' | 'draining';
  /** A function of the engine itself, or one with `metadata: {internal: true}`. */
  internal: boolean;
  triggers: { count: number; types: string[] };
  workers: ModuleRef[];
  has_request_schema: boolean;
  figures: FunctionFigures | null;
}

/** `sort`: `id` (default), `worker`, `triggers`, `calls`, `errors`, `p95`. */
export interface FunctionsQuery extends ListQuery {
  q?: string;
  /** The first segment of the id. */
  ns?: string;
  worker?: string;
  internal?: boolean;
  /** Adds `recent` to the figures of each function. */
  recent?: boolean;
  /** The window of the figures. */
  start_time?: number;
  end_time?: number;
}

export interface FunctionDetail extends FunctionRow {
  metadata: unknown;
  request_schema: unknown;
  response_schema: unknown;
  registered_triggers: TriggerRow[];
}

export interface InvokeRequest {
  function_id: string;
  payload?: unknown;
  /** The name that older clients use. */
  input?: unknown;
  action?: InvokeAction;
  timeout_ms?: number;
}

export type InvokeAction =
  | { type: 'void' }
  | { type: 'enqueue'; queue: string; idempotency_key?: string; delay_ms?: number; priority?: number };

export interface EnqueueReceipt {
  messageReceiptId: string;
}

export interface TriggerRow {
  id: string;
  trigger_type: string;
  function_id: string;
  worker_name: string;
  worker_id: string | null;
  config: unknown;
  config_summary: string;
  metadata: unknown;
  status: 'Active' | 'Inactive' | 'Error';
  /** Why it is not active, in words. */
  reason: string | null;
  last_fired_at: string | null;
  /** Only of cron triggers. */
  next_fire_time: string | null;
}

/** `sort`: `id` (default), `type`, `function`, `status`. */
export interface TriggersQuery extends ListQuery {
  /** One, or several separated by commas. */
  type?: string;
  q?: string;
  status?: TriggerRow['status'];
  function_id?: string;
  internal?: boolean;
}

/** One run of the function through this trigger, newest first. */
export interface Firing {
  at: number;
  trace_id: string | null;
  ok: boolean;
  error: string | null;
  duration_ms: number | null;
}

export interface TriggerDetail extends TriggerRow {
  /**
   * The JSON schemas of the config that its type takes and of the payload that the function gets. `null` where unknown.
   */
  configuration_schema: unknown;
  payload_schema: unknown;
  /** What Fire would send now. */
  sample: unknown;
  /** The last 20. `null` without stored traces. */
  firings: Firing[] | null;
}

export interface TriggerTypeRow {
  id: string;
  description: string;
  worker_name: string;
  count: number;
  /** False: its module is not loaded. `reason` says what to add. */
  available: boolean;
  reason: string | null;
}

export interface TriggerTypes {
  types: TriggerTypeRow[];
}

export interface FireRequest {
  /** If absent, the payload that the trigger would send by itself. */
  payload?: unknown;
}

export interface Fired {
  id: string;
  trigger_type: string;
  function_id: string;
  payload: unknown;
  trace_id: string | null;
}

export interface EmitRequest {
  name: string;
  payload?: unknown;
}

export interface Emitted {
  name: string;
  fired: { trigger_id: string; function_id: string; trace_id: string | null }[];
}

/** What the worker reports about itself. Each value may be missing. */
export interface WorkerMetrics {
  cpu_percent: number | null;
  memory_bytes: number | null;
  event_loop_delay_ms: number | null;
}

export interface WorkerRow {
  id: string;
  name: string;
  /** The words of PD-49. `disconnected`: the worker left within the last hour. */
  status: 'connected' | 'available' | 'busy' | 'draining' | 'disconnected';
  description: string | null;
  /** Of a cluster, to which it is connected. Absent: the engine of the console. */
  engine?: string;
  /** Of its SDK. */
  version: string | null;
  runtime: string | null;
  os: string | null;
  address: string | null;
  pid: number | null;
  connected_at: number;
  disconnected_at: number | null;
  functions: string[];
  in_flight: number;
  /** Connections under the same name within the last hour, beyond the first. */
  reconnects: number;
  /** A module of the engine. */
  internal: boolean;
  metrics: WorkerMetrics;
}

/** `sort`: `name` (default), `status`, `connected_at`, `in_flight`, `functions`. */
export interface WorkersQuery extends ListQuery {
  q?: string;
  internal?: boolean;
}

export interface WorkerEvent {
  at: number;
  event: 'connected' | 'disconnected';
  worker_id: string;
}

export interface WorkerDetail extends WorkerRow {
  function_rows: FunctionRow[];
  triggers: TriggerRow[];
  /** Events of the last hour by worker name, newest first. */
  history: WorkerEvent[];
}
