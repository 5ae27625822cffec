// What the queue module and its store tell each other. `src/validators/queue-shapes.ts` compiles these shapes.

/** A job as it was asked for, beside its payload, which travels as bytes. */
export interface JobFacts {
  functionId: string;
  /** JSON texts as byte strings. */
  metadata?: string;
  traceparent?: string;
  baggage?: string;
  depth?: number;
}

export interface NewJob {
  facts: JobFacts;
  /** Where its payload lies behind the head of the input. */
  at: number;
  bytes: number;
  delayMs?: number;
  priority?: number;
  idempotencyKey?: string;
  /** Nobody is there for it yet: kept as if its function were absent. */
  isKept?: boolean;
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

export interface AdvanceAnswer {
  jobs: ClaimedJob[];
  /** Whether more can be claimed at once. */
  hasMore: boolean;
  /** When the next delayed job, retry or forgotten job is due. */
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
  nextDueMs: number | null;
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
}

export interface PageInput {
  queue: string;
  offset: number;
  limit: number;
}

export interface DeadListInput extends PageInput {
  /** Only this one. */
  id?: string;
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
