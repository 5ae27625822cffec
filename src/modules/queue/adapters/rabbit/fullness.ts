// Whether a queue has room. RabbitMQ is queried once a second while jobs come, and jobs sent since are added: so a
// limit is exact to within the jobs of a second.

import type { EnqueueRefused, EnqueueRules } from '../../../../core/queue/shapes.ts';
import type { Clock } from '../../../../effects/clock.ts';
import type { Topology } from './topology.ts';

const FRESH_MS = 1_000;
/** Queues of topics come and go with ever new names. One that was dropped from the table is queried again. */
const QUEUES_MAX = 10_000;

interface Known {
  jobs: number;
  dead: number;
  askedMs: number;
}

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
