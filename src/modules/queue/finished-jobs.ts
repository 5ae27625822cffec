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
  readonly #jobs = new Map<string, FinishedJob>();
  /** Receipts in the order in which they came, as a ring: a map whose first entries were deleted is slow to begin. */
  readonly #order: string[] = [];
  #oldest = 0;

  add(job: FinishedJob): void {
    const { messageReceiptId: id } = job;
    this.#jobs.set(id, job);
    if (this.#order.length < JOBS_MAX) {
      this.#order.push(id);
      return;
    }
    const oldest = this.#order[this.#oldest];
    if (oldest !== undefined) this.#jobs.delete(oldest);
    this.#order[this.#oldest] = id;
    this.#oldest = (this.#oldest + 1) % JOBS_MAX;
  }

  find(id: string, nowMs: number): FinishedJob | undefined {
    const job = this.#jobs.get(id);
    return job !== undefined && job.finished_at > nowMs - KEPT_MS ? job : undefined;
  }
}
