// What this engine knows of jobs beyond their messages, which cannot be changed while they stay in their place:
// attempts of held FIFO jobs, and hand-overs that reached no worker. It is lost with the engine: then a job gets one
// more attempt.

import type { BrokerJob } from '../../../../core/queue/records.ts';
import type { JobState } from '../../../../core/queue/shapes.ts';

/** The history of returned jobs is kept for this many of the latest. */
const REMEMBERED_MAX = 10_000;

export class Memory {
  attempts: number;
  error: string | undefined;
  firstFailedMs: number | undefined;
  /** Hand-overs that RabbitMQ counted and no worker had. */
  unsent = 0;
  word: 'retrying' | 'delayed' | 'parked' = 'delayed';
  /** Monotonic: when it may run, or has waited long enough for its function. */
  untilMs: number | undefined;

  constructor({ attempts, error, firstFailedMs }: BrokerJob) {
    this.attempts = attempts;
    this.error = error;
    this.firstFailedMs = firstFailedMs;
  }

  get state(): JobState {
    return this.word === 'parked' ? 'waiting_for_worker' : this.word;
  }

  hold(word: 'retrying' | 'delayed' | 'parked', untilMs: number): void {
    this.word = word;
    this.untilMs = untilMs;
  }
}

export class Remembered {
  /** Oldest first. */
  readonly #byId = new Map<string, Memory>();

  of(job: BrokerJob): Memory {
    return this.#byId.get(job.id) ?? new Memory(job);
  }

  keep(id: string, memory: Memory): void {
    this.#byId.delete(id);
    this.#byId.set(id, memory);
    if (this.#byId.size <= REMEMBERED_MAX) return;
    const [oldest] = this.#byId.keys();
    if (oldest !== undefined) this.#byId.delete(oldest);
  }

  /** The message was lost with its channel. */
  keepLost(job: BrokerJob, state: 'buffered' | 'claimed' | 'held', memory = this.of(job)): void {
    if (state !== 'claimed') memory.unsent++;
    this.keep(job.id, memory);
  }

  forget(id: string): void {
    this.#byId.delete(id);
  }
}
