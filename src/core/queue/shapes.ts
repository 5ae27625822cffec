// The messages between the queue module and its store. `src/validators/queue-shapes.ts` compiles these shapes.

import type { KeptRights } from '../access/kept-rights.ts';

/** A requested job, without its payload, which travels as bytes. */
export interface JobHeader {
  functionId: string;
  /** JSON texts as byte strings. */
  metadata?: string;
  traceparent?: string;
  baggage?: string;
  depth?: number;
  /** The trigger that made the job, if a change did. */
  trigger?: { id: string; type: string };
  /** Of the connection that requested it, directly or by its trigger; absent: it may do everything (X7). */
  rights?: KeptRights;
  /** Asked before each attempt whether the function is called. */
  conditionFunctionId?: string;
}

export interface JobOptions {
  delayMs?: number;
  priority?: number;
  idempotencyKey?: string;
  /** It has no subscriber yet: kept as if its function were absent. */
  isKept?: boolean;
}

export interface NewJob extends JobOptions {
  facts: JobHeader;
  /** The position of its payload among those that travel with it. */
  at: number;
  bytes: number;
}

/** What a queue accepts, and which payload fields hold group and priority. */
export interface EnqueueRules {
  maxJobs: number;
  maxDeadLetters: number;
  unroutableTtlMs: number;
  groupField?: string;
  /** FIFO without a field: all its jobs are one group. */
  isOneGroup?: boolean;
  priorityField?: string;
}

export interface EnqueueGroup {
  queue: string;
  rules: EnqueueRules;
  jobs: NewJob[];
}

export interface EnqueueInput {
  groups: EnqueueGroup[];
  /** A refusal of one refuses all of them. */
  isAllOrNone: boolean;
}

/** The form sent to the store of this machine: jobs are counted here and follow as bytes. */
export interface EnqueueHead {
  groups: { queue: string; rules: EnqueueRules; jobs: number }[];
  isAllOrNone: boolean;
}

export interface EnqueueRefused {
  reason: EnqueueReason;
  message: string;
}

export type EnqueueReason =
  | 'QUEUE_NOT_FOUND'
  | 'GROUP_FIELD'
  | 'QUEUE_FULL'
  | 'PAYLOAD_TOO_LARGE'
  | 'STORAGE_FULL'
  | 'STORAGE_UNAVAILABLE'
  | 'SHUTTING_DOWN'
  | 'OVERLOADED'
  | 'INVALID_ARGUMENTS'
  | 'NOT_SUPPORTED';

export type EnqueueAnswer = { id: string } | EnqueueRefused;

/** The outcome of a claimed job. `release`: as if it had not been claimed; `park`: no worker offers its function. */
export interface SettledJob {
  seq: number;
  token: number;
  how: 'done' | 'retry' | 'dead' | 'release' | 'park';
  /** Of a retry, and of a release whose job is not to be claimed again at once. */
  afterMs?: number;
  error?: string;
  reason?: DeathReason;
  /** It never reached a worker: that hand-over does not count. */
  isUnsent?: boolean;
  /** Of a failure: the worker that ran it, and its trace. */
  worker?: string;
  traceId?: string;
}

export type DeathReason = 'failed' | 'fatal' | 'poison' | 'function_not_found' | 'no_subscriber';

export interface AdvanceInput {
  queue: string;
  settled: SettledJob[];
  claim: number;
  deliveriesMax: number;
  unroutableTtlMs: number;
}

export interface ClaimedJob {
  seq: number;
  /** Identifies this hand-over: every other hand-over of the job has another token (Q8). */
  token: number;
  attempt: number;
  id: string;
  enqueuedMs: number;
  facts: JobHeader;
  at: number;
  bytes: number;
}

/** A claimed job and its payload. */
export interface TakenJob extends ClaimedJob {
  readonly payload: Buffer;
}

export interface AdvanceAnswer extends AdvanceSummary {
  jobs: ClaimedJob[];
}

export interface AdvanceSummary {
  /** Whether more can be claimed at once. */
  hasMore: boolean;
  /** When the next delayed job, retry or expiry is due, by the monotonic clock of this engine. */
  nextDueMs: number | null;
  /** Outcomes that came with the token of another hand-over. */
  stale: number;
  /** Jobs that became dead letters. */
  died: number;
}

export interface QueueCounts {
  fresh: number;
  ready: number;
  blocked: number;
  delayed: number;
  retrying: number;
  parked: number;
  running: number;
  dead: number;
}

export interface QueueStats extends QueueCounts {
  queue: string;
  isPaused: boolean;
}

export type JobState = 'waiting' | 'delayed' | 'running' | 'retrying' | 'waiting_for_worker' | 'done' | 'dead';

export interface FailedAttempt {
  attempt: number;
  /** When it ended. */
  at: number;
  error: string;
  worker?: string;
  trace_id?: string;
  /** The wait before the next one. */
  delay_ms?: number;
}

export interface JobRow {
  messageReceiptId: string;
  queue: string;
  function_id: string;
  state: JobState;
  attempt: number;
  enqueued_at: number;
  due_at?: number;
  error?: string;
  size_bytes: number;
  /** FIFO: the value of its group, as JSON; in answers that name the payload field. */
  group?: string;
  /** For a single requested job: its failed attempts, the newest last. */
  attempts?: FailedAttempt[];
  /** When its payload was replaced, at a redrive. */
  edited_at?: number;
}

export interface DeadRow {
  id: string;
  function_id: string;
  error: string;
  reason: DeathReason;
  /** Unix seconds, as in `iii`. */
  failed_at: number;
  retries: number;
  deliveries: number;
  first_failed_at: number;
  enqueued_at: number;
  size_bytes: number;
  group?: string;
}

export interface OpenInput {
  queue: string;
  isFifo: boolean;
}

export interface OpenAnswer extends MovesAnswer {
  /** The other kind it is of; its jobs prevent a change of kind (K4). */
  isRefused: boolean;
  /** Functions whose jobs wait for a worker. */
  parkedFunctions: string[];
}

export interface ForgetInput {
  queue: string;
}

export interface WakeInput {
  queue: string;
  functionId: string;
}

export interface PauseInput {
  queue: string;
  isPaused: boolean;
}

export interface JobInput {
  id: string;
  groupField?: string;
}

/** Jobs in the order in which they were enqueued, without dead letters, which have a list of their own. */
export interface JobsInput {
  queue: string;
  /** Receipt of the last job of the previous page. */
  after?: string;
  /** The number of jobs to examine. */
  limit: number;
  /** Text in receipt, error or payload, case-insensitive. */
  text?: string;
  groupField?: string;
}

export interface JobsPage {
  rows: JobRow[];
  /** Receipt of the last examined job; absent: there are no more. */
  next?: string;
}

export interface DeadListInput {
  queue: string;
  offset: number;
  limit: number;
  /** Only this one. */
  id?: string;
  withoutPayload?: boolean;
  groupField?: string;
}

export interface DeadMovesInput {
  queue: string;
  how: 'redrive' | 'discard';
  id?: string;
  /** Only dead letters from before; jobs that fail again meanwhile stay. */
  beforeDeath?: number;
}

/** For moves that a transaction did not finish. */
export interface MovesAnswer {
  moved: number;
  hasMore: boolean;
  beforeDeath?: number;
}

export interface KeptMovesInput {
  from: string;
  to: string;
  functionId: string;
  rules: EnqueueRules;
}

/** Turns changes of a store into jobs (S5, PD-54). */
export interface ChangePlan {
  /** The source of the changes: `state` or `stream`. */
  owner: string;
  targets: ChangeTarget[];
  /** In Redis: where the jobs of the queues are, which names the outbox. */
  place?: string;
}

export interface ChangeTarget {
  /** The parts of the place of a change; null: any. */
  where: (string | null)[];
  /** Changes of this kind are ignored. */
  exceptKind?: string;
  queue: string;
  rules: EnqueueRules;
  payloadBytesMax: number;
  facts: JobHeader;
  /** The queue is in the same store: its job is written with the change. Otherwise it waits in the outbox. */
  isHere: boolean;
}

/** Queues of the store whose older jobs still wait in the outbox: it keeps new ones after them. */
export interface PlanAnswer {
  held: string[];
}

/** A job that waits in the outbox of a store for its way to a queue in another store; its payload follows. */
export interface OutboxHead {
  queue: string;
  facts: JobHeader;
  /** The same for every repetition of the send. */
  key: string;
}

/** Outboxes of a Redis that are not empty. */
export interface OutboxPlaces {
  places: { place: string; jobs: number }[];
}

/** In Redis: the change that a job is made of. The number and the values are kept next to it. */
export interface KeptChange {
  path: string[];
  kind: string;
  nowMs: number;
}

export interface KeptJobHead extends OutboxHead {
  change: KeptChange;
}

/** Entries after that number, without those of queues that refuse now. */
export interface OutboxAsk {
  after: number;
  refusing: string[];
  place?: string;
}

/** The form sent to the store: jobs follow as bytes. */
export interface OutboxPage {
  jobs: (OutboxHead & { seq: number; bytes: number })[];
  /** The end of the common fields. */
  lookedTo: number;
  hasMore: boolean;
  /** Another engine moves a page. */
  isBusy?: boolean;
}

export interface OutboxDrop {
  seqs: number[];
  place?: string;
}

/** The first job whose queue is migrated to the current form. */
export interface MigrateInput {
  queue: number;
  seq: number;
}

export interface MigrateAnswer extends MigrateInput {
  hasMore: boolean;
}

export interface GroupsInput {
  queue: string;
  groupField?: string;
  limit: number;
}

export interface GroupRow {
  /** As JSON; null where the queue is one group as a whole. */
  value: string | null;
  /** The number of jobs in the group, including the head. */
  jobs: number;
  head: JobRow;
}

export interface GroupsPage {
  groups: GroupRow[];
  /** There are more of them than the requested number. */
  hasMore: boolean;
}
