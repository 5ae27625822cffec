// A job in memory, and the rows that lists show of it.

import type { DeadRow, DeathReason, JobHeader, JobRow, JobState } from '../../../../src/core/queue/shapes.ts';

export interface MemoryJob {
  readonly seq: number;
  /** Its receipt. */
  readonly id: string;
  readonly enqueuedMs: number;
  readonly facts: JobHeader;
  /** Digest of its FIFO group; empty: it has none. */
  readonly group: string;
  payload: Buffer;
  state: Exclude<JobState, 'done'>;
  /** By the monotonic clock: when it may run, or has waited long enough for its function. */
  dueMs: number;
  /** Of the present hand-over: no other one has it. */
  token: number;
  attempts: number;
  deliveries: number;
  error?: string;
  death?: { readonly reason: DeathReason; readonly atMs: number };
}

export function jobRow(queue: string, job: MemoryJob): JobRow {
  return {
    messageReceiptId: job.id,
    queue,
    function_id: job.facts.functionId,
    state: job.state,
    attempt: job.attempts + (job.state === 'running' ? 1 : 0),
    enqueued_at: job.enqueuedMs,
    size_bytes: job.payload.length,
    ...(job.error !== undefined && { error: job.error }),
  };
}

/** JSON, with the payload byte for byte: it is never parsed. */
export function deadRow({ id, enqueuedMs, facts, payload, ...job }: MemoryJob, isBare: boolean): string {
  const diedS = Math.floor((job.death?.atMs ?? 0) / 1_000);
  const row: DeadRow = {
    id,
    function_id: facts.functionId,
    error: job.error ?? '',
    reason: job.death?.reason ?? 'failed',
    failed_at: diedS,
    retries: job.attempts,
    deliveries: job.deliveries,
    first_failed_at: diedS,
    enqueued_at: Math.floor(enqueuedMs / 1_000),
    size_bytes: payload.length,
  };
  const json = JSON.stringify(row);
  return isBare ? json : `${json.slice(0, -1)},"payload":${payload.toString('utf8')}}`;
}
