// The outcomes of finished jobs, which the store no longer has, for callers that hold a receipt (PD-38). In memory: at
// least the last 10 000 of the last hour, or fewer if they reported large progress.
//
// They leave a generation at a time: to delete them one by one costs more than to add them.

import type { JobRow } from '../../core/queue/shapes.ts';
import { recordBytes } from '../../core/telemetry/records/records.ts';

export interface FinishedJob extends JobRow {
  readonly finished_at: number;
  readonly progress?: unknown;
}

const JOBS_MIN = 10_000;
const BYTES_MAX = 64 * 1024 * 1024;
const GENERATION_BYTES = 2 * 1024 * 1024;
const KEPT_MS = 3_600_000;
/** The approximate size of a job without error and progress: every finished job is added here. */
const JOB_BYTES = 512;

interface Generation {
  readonly jobs: Map<string, FinishedJob>;
  bytes: number;
}

export class FinishedJobs {
  /** The oldest first. */
  readonly #generations: Generation[] = [];
  #count = 0;
  #bytes = 0;

  add(job: FinishedJob): void {
    const bytes = bytesOf(job);
    const newest = this.#newestFor(bytes);
    const before = newest.jobs.size;
    newest.jobs.set(job.messageReceiptId, job);
    newest.bytes += bytes;
    this.#count += newest.jobs.size - before;
    this.#bytes += bytes;
  }

  find(id: string, nowMs: number): FinishedJob | undefined {
    const job = this.#generations.findLast(({ jobs }) => jobs.has(id))?.jobs.get(id);
    return job !== undefined && job.finished_at > nowMs - KEPT_MS ? job : undefined;
  }

  /** Receipts, the oldest first. One of a job that ended twice may come twice. */
  *ids(): Iterable<string> {
    for (const { jobs } of this.#generations) yield* jobs.keys();
  }

  #newestFor(bytes: number): Generation {
    const newest = this.#generations.at(-1);
    if (newest !== undefined && newest.bytes + bytes <= GENERATION_BYTES) return newest;
    this.#forgetOld(bytes);
    const next = { jobs: new Map<string, FinishedJob>(), bytes: 0 };
    this.#generations.push(next);
    return next;
  }

  /** Before a generation begins, which may grow to its full size. */
  #forgetOld(bytes: number): void {
    const room = Math.max(bytes, GENERATION_BYTES);
    for (let [oldest] = this.#generations; oldest !== undefined; [oldest] = this.#generations) {
      const isNeeded = this.#count - oldest.jobs.size < JOBS_MIN && this.#bytes + room <= BYTES_MAX;
      if (isNeeded) return;
      this.#generations.shift();
      this.#count -= oldest.jobs.size;
      this.#bytes -= oldest.bytes;
    }
  }
}

function bytesOf({ error = '', progress }: FinishedJob): number {
  return JOB_BYTES + error.length * 2 + (progress === undefined ? 0 : recordBytes(progress));
}
