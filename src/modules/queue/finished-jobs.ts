// The outcomes of finished jobs, which the store no longer has, for callers that hold a receipt (PD-38). In memory: the
// last 10 000 of the last hour, or fewer if they reported large progress.

import type { JobRow } from '../../core/queue/shapes.ts';
import { recordBytes } from '../../core/telemetry/records/records.ts';

export interface FinishedJob extends JobRow {
  readonly finished_at: number;
  readonly progress?: unknown;
}

interface Kept {
  readonly job: FinishedJob;
  readonly bytes: number;
}

const JOBS_MAX = 10_000;
const BYTES_MAX = 64 * 1024 * 1024;
const KEPT_MS = 3_600_000;
/** The approximate size of a job without error and progress: every finished job is added here. */
const JOB_BYTES = 512;

export class FinishedJobs {
  readonly #jobs = new Map<string, Kept>();
  /** Receipts in order of arrival, as a ring: a map whose first entries were deleted is slow to iterate. */
  readonly #order: string[] = [];
  #oldest = 0;
  #count = 0;
  #bytes = 0;

  add(job: FinishedJob): void {
    const { messageReceiptId: id } = job;
    const bytes = bytesOf(job);
    while (this.#count >= JOBS_MAX || (this.#count > 0 && this.#bytes + bytes > BYTES_MAX)) this.#forgetOldest();
    this.#order[(this.#oldest + this.#count) % JOBS_MAX] = id;
    this.#count++;
    this.#bytes += bytes - (this.#jobs.get(id)?.bytes ?? 0);
    this.#jobs.set(id, { job, bytes });
  }

  find(id: string, nowMs: number): FinishedJob | undefined {
    const job = this.#jobs.get(id)?.job;
    return job !== undefined && job.finished_at > nowMs - KEPT_MS ? job : undefined;
  }

  /** Receipts, the oldest first. */
  *ids(): Iterable<string> {
    for (let at = 0; at < this.#count; at++) yield this.#order[(this.#oldest + at) % JOBS_MAX] ?? '';
  }

  #forgetOldest(): void {
    const id = this.#order[this.#oldest] ?? '';
    this.#oldest = (this.#oldest + 1) % JOBS_MAX;
    this.#count--;
    this.#bytes -= this.#jobs.get(id)?.bytes ?? 0;
    this.#jobs.delete(id);
  }
}

function bytesOf({ error = '', progress }: FinishedJob): number {
  return JOB_BYTES + error.length * 2 + (progress === undefined ? 0 : recordBytes(progress));
}
