// Why the head of a FIFO group, and so the whole group, does not run (QUE-4).

import type { JobRow, QueueDetail } from '../../../../../console-api/queues.ts';

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
