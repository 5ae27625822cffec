// `GET /functions`, `GET /functions/{id}` and `POST /invoke`.

import type { ListQuery } from './envelope.ts';
import type { TriggerRow } from './triggers.ts';
import type { ModuleRef } from './values.ts';

/** Of the last five minutes, or of the time for which spans are kept if that is shorter. */
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
