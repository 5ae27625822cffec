// `GET /triggers`, `/triggers/{id}`, `/trigger-types`, `POST /triggers/{id}/fire` and `POST /events/emit`.

import type { ListQuery } from './envelope.ts';

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
