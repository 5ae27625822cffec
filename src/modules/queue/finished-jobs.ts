// The outcomes of finished jobs, which the store no longer has, for callers that hold a receipt (PD-38). In memory: at
// least the last 10 000 of the last hour, or fewer if they reported large progress.
//
// Two generations: when the newer one is full, it takes the place of the older one. Nothing is deleted one by one,
// which would cost more than adding.

import type { JobRow } from '../../core/queue/shapes.ts';
import { recordBytes } from '../../core/telemetry/records/records.ts';

export interface FinishedJob extends JobRow {
  readonly finished_at: number;
  readonly progress?: unknown;
}

const GENERATION_JOBS = 10_000;
const GENERATION_BYTES = 32 * 1024 * 1024;
const KEPT_MS = 3_600_000;
/** The approximate size of a job without error and progress: every finished job is added here. */
const JOB_BYTES = 512;

export class FinishedJobs {
  #older: ReadonlyMap<string, FinishedJob> = new Map();
  #newer = new Map<string, FinishedJob>();
  #newerBytes = 0;

  add(job: FinishedJob): void {
    const bytes = bytesOf(job);
    const isFull = this.#newer.size >= GENERATION_JOBS || this.#newerBytes + bytes > GENERATION_BYTES;
    if (isFull && this.#newer.size > 0) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#newerBytes = 0;
    }
    this.#newerBytes += bytes;
    this.#newer.set(job.messageReceiptId, job);
  }

  find(id: string, nowMs: number): FinishedJob | undefined {
    const job = this.#newer.get(id) ?? this.#older.get(id);
    return job !== undefined && job.finished_at > nowMs - KEPT_MS ? job : undefined;
  }

  /** Receipts, the oldest first. One of a job that ended twice may come twice. */
  *ids(): Iterable<string> {
    yield* this.#older.keys();
    yield* this.#newer.keys();
  }
}

function bytesOf({ error = '', progress }: FinishedJob): number {
  return JOB_BYTES + error.length * 2 + (progress === undefined ? 0 : recordBytes(progress));
}
