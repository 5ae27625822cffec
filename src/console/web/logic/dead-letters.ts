// Bulk work on dead letters (QUE-3): what is asked of the server, and what its progress says. Pure.

import type { BulkRequest, JobFilter, Task } from '../../../console-api/queues.ts';
import { formatCount } from './times.ts';

export type BulkVerb = 'redrive' | 'purge';

/** Which dead letters are meant: these, or whatever matches, as far as that is known in number. */
export type BulkTarget =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'filter'; readonly filter: JobFilter; readonly count: number | null };

/** A filter that leaves nothing out means all of them: said so, it is also refused where a filter would be. */
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
