// Why RabbitMQ takes no job: what it cannot do for a queue, what its own time limit forbids, and whether the queue is
// full. Refused at the start or for each job, never ignored silently. `docs/queues.md` lists it for users.

import type { EnqueueRefused, EnqueueRules } from '../../../../core/queue/shapes.ts';
import { heldWaitsMsMax, totalWaitMs } from '../../../../core/queue/waits.ts';
import type { Clock } from '../../../../effects/clock.ts';
import type { JobToKeep, QueueKind } from '../adapter.ts';
import { type Topology, WAIT_MS_MAX } from './topology.ts';

/** Why the queue cannot be kept here. */
export function kindOffence(
  queue: string,
  kind: Pick<QueueKind, 'isFifo' | 'retry' | 'jobTimeoutMs'>,
  consumerTimeoutMs: number,
): string | undefined {
  const { isFifo, retry, jobTimeoutMs } = kind;
  if (jobTimeoutMs >= consumerTimeoutMs) {
    const text = `job_timeout_ms ${jobTimeoutMs} of the queue '${queue}' must be below consumer_timeout_ms`;
    return `${text} ${consumerTimeoutMs}: RabbitMQ gives a job that takes longer to another consumer`;
  }
  if (!isFifo) return undefined;
  const limitMs = heldWaitsMsMax(consumerTimeoutMs);
  const totalMs = totalWaitMs(retry);
  if (totalMs <= limitMs) return undefined;
  const text = `The waits of the fifo queue '${queue}' add up to ${totalMs} ms, over two thirds of consumer_timeout_ms`;
  return `${text} (${limitMs} ms): lower backoff_ms, backoff_max_ms or max_retries`;
}

/** Why the job cannot be kept here. */
export function jobOffence(job: JobToKeep, rules: EnqueueRules): EnqueueRefused | undefined {
  const { delayMs = 0 } = job;
  if (delayMs > WAIT_MS_MAX) return cannot(`delay a job for more than ${WAIT_MS_MAX} ms`);
  if (delayMs > 0 && (rules.groupField !== undefined || rules.isOneGroup === true)) {
    return cannot('delay a job of a fifo queue: it would lose its place');
  }
  return undefined;
}

function cannot(what: string): EnqueueRefused {
  return { reason: 'INVALID_ARGUMENTS', message: `The adapter rabbitmq cannot ${what}` };
}

const FRESH_MS = 1_000;
/** Queues of topics come and go with ever new names. One that was dropped from the table is queried again. */
const QUEUES_MAX = 10_000;

interface Known {
  jobs: number;
  dead: number;
  askedMs: number;
}

/**
 * Whether a queue is full. RabbitMQ is queried once a second while jobs come, and jobs sent since are added: so a limit
 * is exact to within the jobs of a second.
 */
export class Fullness {
  readonly #topology: Pick<Topology, 'counts'>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #heldHere: (queue: string) => number;
  readonly #byQueue = new Map<string, Known>();

  /** `heldHere`: jobs that this engine was handed, which RabbitMQ no longer counts. */
  constructor(
    topology: Pick<Topology, 'counts'>,
    clock: Pick<Clock, 'monotonicMs'>,
    heldHere: (queue: string) => number,
  ) {
    this.#topology = topology;
    this.#clock = clock;
    this.#heldHere = heldHere;
  }

  /** Why the queue takes no job now. An accepted job counts at once. */
  refusal(queue: string, { maxJobs, maxDeadLetters }: EnqueueRules): EnqueueRefused | undefined {
    const known = this.#known(queue);
    if (known.jobs >= maxJobs) {
      return { reason: 'QUEUE_FULL', message: `Queue '${queue}' is full: it holds ${known.jobs} jobs, its limit` };
    }
    if (known.dead >= maxDeadLetters) {
      const text = `has ${known.dead} dead letters, its limit: redrive, discard or purge some first`;
      return { reason: 'QUEUE_FULL', message: `Queue '${queue}' takes no jobs: it ${text}` };
    }
    known.jobs++;
    return undefined;
  }

  /** Queries now. */
  async look(queue: string): Promise<void> {
    const held = this.#heldHere(queue);
    const { work, parked, dead } = await this.#topology.counts(queue);
    const known = this.#known(queue, true);
    known.jobs = work + parked + held;
    known.dead = dead;
  }

  #known(queue: string, isLooking = false): Known {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#byQueue.get(queue) ?? this.#learn(queue);
    if (nowMs - known.askedMs < FRESH_MS) return known;
    known.askedMs = nowMs;
    // Without an answer the last known count remains; jobs sent meanwhile are refused by the sender.
    if (!isLooking) this.look(queue).catch(() => {});
    return known;
  }

  #learn(queue: string): Known {
    const [oldest] = this.#byQueue.size < QUEUES_MAX ? [] : this.#byQueue.keys();
    if (oldest !== undefined) this.#byQueue.delete(oldest);
    const known = { jobs: 0, dead: 0, askedMs: Number.NEGATIVE_INFINITY };
    this.#byQueue.set(queue, known);
    return known;
  }
}
