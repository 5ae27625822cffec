// Whether a queue has room. RabbitMQ is asked once a second while jobs come, and what was sent since is added: so a
// limit is kept to within what comes in a second.

import type { EnqueueRefused, EnqueueRules } from '../../../../core/queue/shapes.ts';
import type { Clock } from '../../../../effects/clock.ts';
import type { Topology } from './topology.ts';

const FRESH_MS = 1_000;

interface Known {
  jobs: number;
  dead: number;
  askedMs: number;
}

export class Fullness {
  readonly #topology: Topology;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #heldHere: (queue: string) => number;
  readonly #byQueue = new Map<string, Known>();

  /** `heldHere`: what this engine was handed, which RabbitMQ does not count any more. */
  constructor(topology: Topology, clock: Pick<Clock, 'monotonicMs'>, heldHere: (queue: string) => number) {
    this.#topology = topology;
    this.#clock = clock;
    this.#heldHere = heldHere;
  }

  /** Why the queue takes no job now. One that is taken counts at once. */
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

  /** Asks now. */
  async look(queue: string): Promise<void> {
    const held = this.#heldHere(queue);
    const { work, parked, dead } = await this.#topology.counts(queue);
    const known = this.#known(queue, true);
    known.jobs = work + parked + held;
    known.dead = dead;
  }

  #known(queue: string, isLooking = false): Known {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#byQueue.get(queue) ?? { jobs: 0, dead: 0, askedMs: Number.NEGATIVE_INFINITY };
    this.#byQueue.set(queue, known);
    if (nowMs - known.askedMs < FRESH_MS) return known;
    known.askedMs = nowMs;
    // Without an answer what was known stays; what is sent meanwhile is refused by whoever sends it.
    if (!isLooking) this.look(queue).catch(() => {});
    return known;
  }
}
