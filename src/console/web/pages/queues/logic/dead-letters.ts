// Bulk operations on dead letters (QUE-3): the request to the server, and the text of its progress. Pure.

import type { BulkRequest, JobFilter, Task } from '../../../../api/queues.ts';
import { formatCount } from '../../../kit/charts/times.ts';

export type BulkVerb = 'redrive' | 'purge';

/** The dead letters of an operation: these, or all that match, with their number where it is known. */
export type BulkTarget =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'filter'; readonly filter: JobFilter; readonly count: number | null };

/** An empty filter means all of them. It is sent as "all", because the server refuses an empty filter. */
export function bulkRequest(target: BulkTarget): BulkRequest {
  if (target.kind === 'ids') return { ids: [...target.ids] };
  return isFilterEmpty(target.filter) ? { all: true } : { filter: target.filter };
}

export function isFilterEmpty(filter: JobFilter): boolean {
  return Object.values(filter).every((value) => value === undefined || value === '');
}

/** "12 dead letters", "all dead letters", "all dead letters that match". */
export function targetWords(target: BulkTarget): string {
  const count = target.kind === 'ids' ? target.ids.length : target.count;
  if (count === 1) return '1 dead letter';
  if (count !== null) return `${formatCount(count)} dead letters`;
  return target.kind === 'filter' && !isFilterEmpty(target.filter) ? 'all dead letters that match' : 'all dead letters';
}

export interface TaskProgress {
  /** From 0 to 1; undefined while the total is not known. */
  readonly share: number | undefined;
  /** "12 done, 1 failed, 3 skipped". */
  readonly words: string;
  readonly isRunning: boolean;
}

export function taskProgress({ state, total, done, failed, skipped }: Task): TaskProgress {
  const seen = done + failed + skipped;
  const words = [`${formatCount(done)} done`, `${formatCount(failed)} failed`, `${formatCount(skipped)} skipped`];
  const isRunning = state === 'running';
  const share = total === null || total === 0 ? undefined : Math.min(1, seen / total);
  return { share: state === 'done' ? 1 : share, words: words.join(', '), isRunning };
}
