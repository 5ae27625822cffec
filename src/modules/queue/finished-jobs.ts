// What became of jobs that are done: the store has them no more, and whoever holds a receipt may still ask
// (decisions 38). In memory, the last 10 000 of the last hour.

import type { JobRow } from '../../core/queue/shapes.ts';

export interface FinishedJob extends JobRow {
  readonly finished_at: number;
  readonly progress?: unknown;
}

const JOBS_MAX = 10_000;
const KEPT_MS = 3_600_000;

export class FinishedJobs {
  /** Oldest first. */
  readonly #jobs = new Map<string, FinishedJob>();

  add(job: FinishedJob): void {
    this.#jobs.set(job.messageReceiptId, job);
    if (this.#jobs.size <= JOBS_MAX) return;
    const [oldest] = this.#jobs.keys();
    if (oldest !== undefined) this.#jobs.delete(oldest);
  }

  find(id: string, nowMs: number): FinishedJob | undefined {
    const job = this.#jobs.get(id);
    return job !== undefined && job.finished_at > nowMs - KEPT_MS ? job : undefined;
  }
}
