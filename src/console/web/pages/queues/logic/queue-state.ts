// What a page shows of a queue in words and figures: its depth in the last minute, one value a second (QUE-1), what its
// adapter cannot report in place of a zero or an empty list (QUE-2, QUE-4), and why the head of a FIFO group, and so
// the whole group, does not run (QUE-4). Pure: the caller keeps the values and the clock.

import type { JobRow, QueueDetail, QueueRow, UnreportedDetail } from '../../../../api/queues.ts';

export type DepthHistory = ReadonlyMap<string, readonly number[]>;

export const DEPTHS_KEPT = 60;

interface Depth {
  readonly name: string;
  readonly waiting: number;
  /** `null`: not counted. */
  readonly delayed: number | null;
  readonly running: number;
  readonly retrying: number | null;
  readonly waiting_for_worker: number;
}

/** All unfinished jobs. Dead letters wait for people, not for workers. */
export function depthOf({ waiting, delayed, running, retrying, waiting_for_worker }: Depth): number {
  return waiting + (delayed ?? 0) + running + (retrying ?? 0) + waiting_for_worker;
}

/** Queues that are gone are removed. */
export function withDepths(history: DepthHistory, rows: readonly Depth[]): DepthHistory {
  return new Map(
    rows.map((row) => [row.name, [...(history.get(row.name) ?? []), depthOf(row)].slice(-DEPTHS_KEPT)] as const),
  );
}

const STORES: Readonly<Record<string, string>> = {
  builtin: 'The builtin store',
  extstore: 'Redis',
  rabbitmq: 'RabbitMQ',
};

/** The subject of the sentence. */
export function storeName(adapter: string): string {
  return STORES[adapter] ?? `The adapter ${adapter}`;
}

const WORDS: Readonly<Record<UnreportedDetail, string>> = {
  jobs: 'reports how many jobs wait, but not which ones',
  waits: 'does not count the jobs that wait for their time or their next attempt',
  attempts: 'keeps the last error of a job, but not each of its attempts',
  payloads: 'gives the payload of a live job only to workers',
  payload_search: 'does not search payloads: only receipts and errors are searched',
  groups: 'does not report the groups of a FIFO queue',
};

/** A sentence; undefined where the adapter reports it. */
export function secretOf(
  { adapter, not_told: secrets }: Pick<QueueRow, 'adapter' | 'not_told'>,
  secret: UnreportedDetail,
): string | undefined {
  return secrets.includes(secret) ? `${storeName(adapter)} ${WORDS[secret]}.` : undefined;
}

export interface Wait {
  readonly words: string;
  /** When it ends, if that is known. */
  readonly untilMs: number | null;
}

export function whyWaits(
  { state, due_at, function_id, attempt }: JobRow,
  { paused, running }: Pick<QueueDetail, 'paused' | 'running'>,
): Wait {
  if (state === 'running') return { words: 'It runs now.', untilMs: null };
  if (paused) return { words: 'The queue is paused.', untilMs: null };
  if (state === 'waiting_for_worker') return { words: `No worker offers ${function_id}.`, untilMs: null };
  if (state === 'retrying') return { words: `Attempt ${attempt} failed; the next one:`, untilMs: due_at };
  if (state === 'delayed') return { words: 'It is delayed until:', untilMs: due_at };
  if (running > 0) return { words: 'A FIFO queue runs one job at a time, and another job is running.', untilMs: null };
  return { words: 'It runs next.', untilMs: null };
}
