// What is answered about calls and jobs over time.

import type { EdgeEnd } from '../spans/trace-edges.ts';
import type { CallPoint, CallSums } from './call-cell.ts';
import type { CallWindow } from './call-series.ts';
import type { LastError } from './last-errors.ts';

export type CallRow = CallSums & { readonly points: readonly CallPoint[] };

export interface FunctionCalls extends CallSums {
  readonly function_id: string;
  /** Unix milliseconds, also before the window; to about a second. */
  readonly last_call_ms: number | null;
  readonly last_error: LastError | null;
  readonly points: readonly CallPoint[];
}

export interface EdgeCalls {
  readonly from: string;
  readonly to: EdgeEnd;
  readonly calls: number;
  readonly errors: number;
}

export interface CallsAnswer extends CallWindow {
  readonly functions: readonly FunctionCalls[];
  readonly total: CallSums & { readonly points: readonly CallPoint[] };
  readonly edges?: readonly EdgeCalls[];
}

export interface QueueJobs extends Omit<CallSums, 'calls' | 'errors' | 'deferred'> {
  readonly queue: string;
  readonly enqueued: number;
  /** That ended in the window, and how many of them failed. */
  readonly attempts: number;
  readonly failed: number;
  readonly points: readonly JobPoint[];
}

export interface JobPoint extends Omit<CallPoint, 'calls' | 'errors'> {
  readonly attempts: number;
  readonly failed: number;
}

export interface JobsAnswer extends CallWindow {
  readonly queues: readonly QueueJobs[];
}

/** A row of jobs: enqueued jobs are deferred calls, and attempts are calls. */
export function jobsOf(queue: string, row: CallRow): QueueJobs {
  const { calls: attempts, errors: failed, deferred: enqueued, points, ...sums } = row;
  return {
    queue,
    enqueued,
    attempts,
    failed,
    ...sums,
    points: points.map(({ calls, errors, ...point }) => ({ attempts: calls, failed: errors, ...point })),
  };
}
