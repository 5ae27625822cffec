// The answers of built-in functions that the console reads, by the id of the function. The module that makes an answer
// names its type from here; `telemetry/functions/definition.ts` does the same for the telemetry threads.
// `src/validators/console-answers.ts` compiles the checks: an answer reaches the console as JSON text.

import type { DeadRow, JobRow } from '../../core/queue/shapes.ts';
import type { UnreportedDetail } from './queues.ts';
import type { StateRow } from './states.ts';
import type { HealthWord } from './system.ts';
import type { Alerts, AlertsEvaluated, Sampling } from './telemetry.ts';

export interface BuiltinAnswers {
  'engine::health::check': Health;
  'engine::triggers::fire': FiredTrigger;
  'engine::events::emit': Emission;
  'engine::queue::list': QueueOverview[];
  'engine::queue::topic_stats': QueueTotals;
  'engine::queue::jobs': JobPage;
  'engine::queue::job': ShownJob;
  'engine::queue::groups': FifoGroups;
  'engine::queue::dlq_messages': (DeadRow & { payload?: unknown })[];
  'engine::queue::dlq_groups': DeadLetterGroups;
  'svc::queue::redrive_message': { redriven?: number };
  'svc::queue::discard_message': { redriven?: number };
  'state::list': { entries: StateRow[]; next: string | null };
  'state::list_groups': { groups: string[] };
  'state::update': Updated;
  'stream::list_all': { stream: { id: string; groups: string[] }[] };
  'stream::list_groups': { groups: string[] } | string[];
  'engine::alerts::list': Alerts;
  'engine::alerts::evaluate': AlertsEvaluated;
  'engine::sampling::rules': Sampling;
}

interface Health {
  status: HealthWord;
  components: {
    otel?: { status: HealthWord; details?: { exporter?: string; service_name?: string } | null };
    metrics?: { status: HealthWord };
    logs?: { status: HealthWord };
    spans?: { status: HealthWord };
  };
}

interface FiredTrigger {
  id: string;
  trigger_type: string;
  function_id: string;
  payload?: unknown;
}

interface Emission {
  topic: string;
  triggers: { id: string; trigger_type: string; function_id: string }[];
  /** How many engines received it. */
  engines: number;
}

/** Totals count since the engine started. */
export interface QueueOverview {
  name: string;
  kind: 'queue' | 'topic';
  type: 'standard' | 'fifo' | null;
  adapter: string;
  not_told: readonly UnreportedDetail[];
  waiting: number;
  delayed: number;
  retrying: number;
  waiting_for_worker: number;
  running: number;
  dead: number;
  paused: boolean;
  /** Why none of its jobs is handed over, although it is not paused. */
  held_back: string | null;
  is_configured: boolean;
  concurrency: number;
  subscribers: number;
  running_here: number;
  enqueued_total: number;
  finished_total: number;
  failed_total: number;
  in_per_s: number;
  out_per_s: number;
  oldest_enqueued_at: number | null;
  oldest_waiting_ms: number | null;
}

interface QueueTotals {
  depth: number;
  consumer_count: number;
  dlq_depth: number;
  config: {
    type: 'standard' | 'fifo';
    concurrency: number;
    max_retries: number;
    backoff_ms: number;
    job_timeout_ms: number;
    message_group_field: string | null;
  } | null;
  states: Record<'waiting' | 'delayed' | 'retrying' | 'waiting_for_worker' | 'running', number>;
  paused: boolean;
}

export interface ShownJob extends JobRow {
  finished_at?: number;
  progress?: unknown;
}

interface JobPage {
  items: ShownJob[];
  next_cursor: string | null;
}

interface FifoGroups {
  groups: readonly { value: string | null; jobs: number; head: JobRow }[];
  complete: boolean;
}

/** Times in seconds. */
interface DeadLetterGroups {
  groups: { error: string; newest_id: string; count: number; first_failed_at: number; last_failed_at: number }[];
  scanned: number;
  complete: boolean;
}

/** The answer to an update of state or of a stream item. */
interface Updated {
  old_value: unknown;
  new_value: unknown;
  errors?: { op_index: number; code: string; message: string; doc_url?: string }[];
}
