// `GET /workers` and `GET /workers/{id}`.

import type { ListQuery } from './envelope.ts';
import type { FunctionRow } from './functions.ts';
import type { TriggerRow } from './triggers.ts';

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
