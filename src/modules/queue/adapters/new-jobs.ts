// Jobs on their way into an adapter: gathered for the turn, with the group and the priority that their payload gives
// them, and the copies of published messages.

import type { EnqueueAnswer, EnqueueRefused, EnqueueRules, JobHeader, NewJob } from '../../../core/queue/shapes.ts';
import type { Clock } from '../../../effects/clock.ts';
import { readGroup, readPriority } from '../../../store/commands/queue/group-value.ts';
import type { JobToKeep } from './adapter.ts';
import type { PublishTarget } from './capabilities.ts';

const NULL = Buffer.from('null');
/** The limit of one batch, because others wait for it. */
const JOBS_MAX = 128;
/** Fewer do not justify a batch of their own before the turn ends. */
const SHARE_JOBS_MIN = 16;
const BYTES_MAX = 1024 * 1024;

export interface GatheredBatch {
  readonly queue: string;
  readonly rules: EnqueueRules;
  readonly jobs: readonly NewJob[];
  /** Copies of the payloads, one for each job. */
  readonly payloads: readonly Uint8Array[];
}

/** Calls back with the outcome of each job, in the order of the batch. */
export type SendBatch = (batch: GatheredBatch, done: (answers: readonly EnqueueAnswer[]) => void) => void;

interface Gathering extends GatheredBatch {
  readonly jobs: NewJob[];
  readonly payloads: Uint8Array[];
  readonly waiting: ((answer: EnqueueAnswer) => void)[];
  bytes: number;
}

/** Sends the jobs that are enqueued in one turn to the adapter together, queue by queue. */
export class GatheredJobs {
  readonly #send: SendBatch;
  readonly #clock: Pick<Clock, 'afterTurn'>;
  readonly #byQueue = new Map<string, Gathering>();
  /** Jobs that are neither kept nor refused yet. */
  #waiting = 0;
  #isFlushDue = false;

  constructor(clock: Pick<Clock, 'afterTurn'>, send: SendBatch) {
    this.#send = send;
    this.#clock = clock;
  }

  add(queue: string, rules: EnqueueRules, job: JobToKeep, done: (answer: EnqueueAnswer) => void): void {
    const bytes = job.payload === undefined ? NULL : job.payload.asJsonBytes();
    if (bytes === undefined) {
      done({ reason: 'INVALID_ARGUMENTS', message: 'The payload is not JSON, or nested too deep' });
      return;
    }
    const known = this.#byQueue.get(queue);
    const gathering = known ?? { queue, rules, jobs: [], payloads: [], waiting: [], bytes: 0 };
    if (known === undefined) this.#byQueue.set(queue, gathering);
    const { facts, delayMs, priority, idempotencyKey } = job;
    gathering.jobs.push({
      facts,
      at: gathering.bytes,
      bytes: bytes.length,
      ...(delayMs !== undefined && { delayMs }),
      ...(priority !== undefined && { priority }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
    // The payload is a view of a message that is gone when the turn ends.
    gathering.payloads.push(Buffer.from(bytes));
    gathering.waiting.push(done);
    gathering.bytes += bytes.length;
    this.#waiting++;
    if (this.#isFull(gathering)) this.flush(queue);
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    this.#clock.afterTurn(() => {
      this.#isFlushDue = false;
      for (const name of [...this.#byQueue.keys()]) this.flush(name);
    });
  }

  /**
   * Half of all waiting producers are enough, as in the store (`StoreClient`): otherwise producers that wait for
   * receipts would come and go together, and the store and they would idle in turns.
   */
  #isFull({ jobs, bytes }: Gathering): boolean {
    const isShare = jobs.length >= SHARE_JOBS_MIN && 2 * jobs.length >= this.#waiting;
    return isShare || jobs.length >= JOBS_MAX || bytes >= BYTES_MAX;
  }

  flush(queue: string): void {
    const gathering = this.#byQueue.get(queue);
    if (gathering === undefined) return;
    this.#byQueue.delete(queue);
    this.#send(gathering, (answers) => {
      this.#waiting -= gathering.jobs.length;
      gathering.waiting.forEach((done, index) => done(answers[index] ?? NO_ANSWER));
    });
  }
}

const NO_ANSWER: EnqueueAnswer = { reason: 'STORAGE_UNAVAILABLE', message: 'The store gave no answer' };

/** The group and the priority of a job, for adapters other than the local store. */
export interface Placement {
  /** Digest of its group; empty: it has none. */
  readonly group: string;
  readonly priority: number;
}

/** FIFO without a field: all jobs of the queue are one group. */
export const ONE_GROUP = 'all';

export function placementOf(
  queue: string,
  rules: EnqueueRules,
  priority: number | undefined,
  payload: Uint8Array,
): Placement | EnqueueRefused {
  const { groupField, isOneGroup, priorityField } = rules;
  const urgency = priority ?? (priorityField === undefined ? 0 : readPriority(priorityField, payload));
  if (isOneGroup === true) return { group: ONE_GROUP, priority: 0 };
  if (groupField === undefined) return { group: '', priority: urgency };
  const group = readGroup(queue, groupField, payload);
  return group.ok ? { group: group.digest, priority: 0 } : { reason: 'GROUP_FIELD', message: group.message };
}

/**
 * What every adapter keeps of a message copy for a subscriber, with the context of the publisher: without it the trace
 * of a message would end at its topic. Undefined entries are omitted, because the shapes of stores have no undefined.
 */
export function headerOfCopy({ functionId, traceparent, baggage }: PublishTarget): JobHeader {
  return {
    functionId,
    ...(traceparent !== undefined && { traceparent }),
    ...(baggage !== undefined && { baggage }),
  };
}
