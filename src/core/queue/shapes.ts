// What the queue module and its store tell each other. `src/validators/queue-shapes.ts` compiles these shapes.

import type { KeptRights } from '../kept-rights.ts';
import type { FailedAttempt } from './past-attempts.ts';

/** A job as it was asked for, beside its payload, which travels as bytes. */
export interface JobFacts {
  functionId: string;
  /** JSON texts as byte strings. */
  metadata?: string;
  traceparent?: string;
  baggage?: string;
  depth?: number;
  /** A change made it, by way of this trigger. */
  trigger?: { id: string; type: string };
  /** Whose trigger it is, if he may not do everything (X7). */
  rights?: KeptRights;
  /** Asked before each attempt whether the function is to be called. */
  conditionFunctionId?: string;
}

export interface JobOptions {
  delayMs?: number;
  priority?: number;
  idempotencyKey?: string;
  /** Nobody is there for it yet: kept as if its function were absent. */
  isKept?: boolean;
}

export interface NewJob extends JobOptions {
  facts: JobFacts;
  /** Where its payload lies among those that travel with it. */
  at: number;
  bytes: number;
}

/** What a queue takes, and where in a payload it finds group and priority. */
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

/** As it travels to the store of this machine: jobs are counted here and follow as bytes. */
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
  | 'INVALID_ARGUMENTS';

export type EnqueueAnswer = { id: string } | EnqueueRefused;

/** How a claimed job went on. `release`: as if it had not been claimed; `park`: nobody offers its function. */
export interface SettledJob {
  seq: number;
  token: number;
  how: 'done' | 'retry' | 'dead' | 'release' | 'park';
  /** Of a retry, and of a release that is not to be claimed again at once. */
  afterMs?: number;
  error?: string;
  reason?: DeathReason;
  /** It never reached a worker: that hand-over does not count. */
  isUnsent?: boolean;
  /** Of a failure: who ran it, and the trace that shows it. */
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
  /** Of this hand-over: any other hand-over of the job has another one (Q8). */
  token: number;
  attempt: number;
  id: string;
  enqueuedMs: number;
  facts: JobFacts;
  at: number;
  bytes: number;
}

export interface AdvanceAnswer extends AdvanceFacts {
  jobs: ClaimedJob[];
}

export interface AdvanceFacts {
  /** Whether more can be claimed at once. */
  hasMore: boolean;
  /** When the next delayed job, retry or forgotten job is due, by the monotonic clock of this engine. */
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
  /** FIFO: the value of its group, as JSON; where whoever asks says which field of the payload it is. */
  group?: string;
  /** Of a job that was asked for alone: what failed of it, the newest last. */
  attempts?: FailedAttempt[];
  /** When its payload was exchanged for another one, at a redrive. */
  edited_at?: number;
}

export interface DeadRow {
  id: string;
  function_id: string;
  error: string;
  reason: DeathReason;
  /** Unix seconds, as the peer has it. */
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
  /** The other kind it is of, which its jobs do not let it change (K4). */
  isRefused: boolean;
  /** Whose jobs wait for a worker. */
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

/** Jobs in the order in which they were enqueued, dead letters aside: those have a list of their own. */
export interface JobsInput {
  queue: string;
  /** Receipt of the last job of the page before. */
  after?: string;
  /** Jobs to look at. */
  limit: number;
  /** In receipt, error or payload, whatever their case. */
  text?: string;
  groupField?: string;
}

export interface JobsPage {
  rows: JobRow[];
  /** Receipt of the last job that was looked at; absent: there are no more. */
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
  /** Only what died before: what dies again meanwhile stays. */
  beforeDeath?: number;
}

/** Of moves that a transaction did not finish. */
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

/** What changes of a store become jobs (S5, decisions 54). */
export interface ChangePlan {
  /** Whose changes: `state` or `stream`. */
  owner: string;
  targets: ChangeTarget[];
}

export interface ChangeTarget {
  /** The parts of the place of a change; null: any. */
  where: (string | null)[];
  /** Changes of this kind are none of its. */
  exceptKind?: string;
  queue: string;
  rules: EnqueueRules;
  payloadBytesMax: number;
  facts: JobFacts;
  /** The queue lies in the same store: its job is written with the change. Else it waits in the outbox. */
  isHere: boolean;
}

/** Queues of the store whose older jobs still wait in the outbox: it keeps new ones behind them. */
export interface PlanAnswer {
  held: string[];
}

/** A job that waits in the outbox of a store for its way to a queue that lies elsewhere; its payload stands behind. */
export interface OutboxHead {
  queue: string;
  facts: JobFacts;
  /** The same however often it is sent. */
  key: string;
}

/** Entries behind that number, but those of queues that refuse now. */
export interface OutboxAsk {
  after: number;
  refusing: string[];
}

/** As it travels: jobs follow as bytes. */
export interface OutboxPage {
  jobs: (OutboxHead & { seq: number; bytes: number })[];
  /** Up to here nothing else is asked for. */
  lookedTo: number;
  hasMore: boolean;
}

export interface OutboxDrop {
  seqs: number[];
}

/** The job from which on queues are brought to the form of today. */
export interface MigrateInput {
  queue: number;
  seq: number;
}

export interface MigrateAnswer extends MigrateInput {
  hasMore: boolean;
}
