// Queues, jobs, dead letters, and bulk operations on them.

import type { ListQuery } from './envelope.ts';

export interface QueueRow {
  name: string;
  /** `topic`: copies of published messages, with one inner queue for each subscriber. */
  type: 'standard' | 'fifo' | 'topic';
  adapter: string;
  /** What the adapter cannot report about it. */
  not_told: readonly UnreportedDetail[];
  paused: boolean;
  /** Why none of its jobs is handed over, although it is not paused. */
  held_back: string | null;
  waiting: number;
  /** `null`, like `retrying`, where the adapter does not count them. */
  delayed: number | null;
  running: number;
  retrying: number | null;
  waiting_for_worker: number;
  dead: number;
  /** Recent rate in jobs per second, through this engine. */
  in_per_s: number;
  out_per_s: number;
  oldest_waiting_ms: number | null;
  concurrency: number | null;
  subscribers: number;
}

/**
 * `jobs`: which jobs wait. `waits`: how many wait for their time or their next attempt. `attempts`: all but the last
 * error of a job. `payloads`: those of live jobs. `payload_search`: a search in payloads. `groups`: the groups of a
 * FIFO queue.
 */
export type UnreportedDetail = 'jobs' | 'waits' | 'attempts' | 'payloads' | 'payload_search' | 'groups';

export interface QueuesQuery extends ListQuery {
  q?: string;
}

export interface QueueDetail extends QueueRow {
  max_retries: number | null;
  backoff_ms: number | null;
  job_timeout_ms: number | null;
  message_group_field: string | null;
}

export type QueueJobState = 'waiting' | 'delayed' | 'running' | 'retrying' | 'waiting_for_worker' | 'done' | 'dead';

export interface JobRow {
  id: string;
  queue: string;
  function_id: string;
  state: QueueJobState;
  attempt: number;
  enqueued_at: number;
  due_at: number | null;
  size_bytes: number;
  error: string | null;
  /** Only of dead letters. */
  failed_at: number | null;
  first_failed_at: number | null;
  reason: string | null;
  /** FIFO: the value of the group, as JSON. */
  group: string | null;
}

/** `state=dead` lists dead letters, newest first. The other states are listed in the order of the queue. */
export interface JobsQuery extends ListQuery, JobFilter {
  state?: QueueJobState;
}

export interface JobFilter {
  function_id?: string;
  /** Text in the receipt, the error or the payload. For live jobs in Redis only in the first two. */
  q?: string;
  /** FIFO: the value of the group. */
  group?: string;
  /** The folded message of `DeadGroup`. */
  error_group?: string;
  attempts_min?: number;
  /** Seconds since the job was enqueued, at least. */
  older_than_ms?: number;
}

export interface JobAttempt {
  attempt: number;
  at: number | null;
  error: string | null;
  /** The name of the worker that ran it. */
  worker: string | null;
  trace_id: string | null;
  /** The delay before the next attempt. `null`: there is no next attempt. */
  delay_ms: number | null;
}

export interface JobDetail extends JobRow {
  /** `null` with `payload_available: false` where the store gives it only to workers. */
  payload: unknown;
  payload_available: boolean;
  progress: unknown;
  finished_at: number | null;
  /** When it was redriven with another payload. */
  edited_at: number | null;
  /** The failed attempts, newest first, as far as the store keeps them. */
  attempts: JobAttempt[];
}

/** The groups of a FIFO queue, those that wait longest first. */
export interface QueueGroups {
  groups: QueueGroup[];
  /** More groups have jobs than are listed. */
  has_more: boolean;
}

export interface QueueGroup {
  /** As JSON. `null` where the whole queue is one group. */
  value: string | null;
  /** How many jobs the group has, including the head. */
  jobs: number;
  /** The head of the group. All its other jobs wait for this one. */
  head: JobRow;
}

export interface PublishRequest {
  /** For a queue: the function to run. Not needed for a topic. */
  function_id?: string;
  payload?: unknown;
  delay_ms?: number;
  priority?: number;
  idempotency_key?: string;
}

export interface Published {
  messageReceiptId: string | null;
}

export interface Paused {
  queue: string;
  paused: boolean;
}

/** Exactly one of the three. */
export interface BulkRequest {
  ids?: string[];
  filter?: JobFilter;
  all?: boolean;
  /** Redrive of a single id: replaces the payload of the job. */
  payload?: unknown;
}

export interface TaskStarted {
  task_id: string;
}

export interface DeadGroup {
  /** With digits and ids folded to `<n>` and `<id>`. */
  error: string;
  count: number;
  newest_id: string;
  first_at: number;
  last_at: number;
}

export interface DeadGroups {
  groups: DeadGroup[];
  /** How many dead letters were examined. The rest is not grouped. */
  examined: number;
  total: number;
}

export interface Task {
  id: string;
  kind: 'redrive' | 'purge' | 'delete' | 'import';
  subject: string;
  state: 'running' | 'done' | 'failed' | 'cancelled';
  total: number | null;
  done: number;
  failed: number;
  skipped: number;
  error: string | null;
  started_at: number;
  ended_at: number | null;
}
