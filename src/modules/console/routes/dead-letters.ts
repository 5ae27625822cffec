// Dead letters as the console shows them: rows, filters, and groups of those with the same error.

import type { List } from '../../../console/api/envelope.ts';
import type { DeadGroups, JobFilter, JobRow, JobsQuery } from '../../../console/api/queues.ts';
import { foldError } from '../../../core/queue/error-groups.ts';
import type { ConsoleContext } from '../console-context.ts';
import type { Answers } from '../sources/built-ins.ts';
import { ApiFailure } from '../sources/failure.ts';
import { limitOf, matches, placeOf } from './page.ts';

export type Letter = Answers['engine::queue::dlq_messages'][number];

const READ_AT_ONCE = 500;
/** Letters that one page of a filter examines. */
const EXAMINED_MAX = 20_000;

export function deadRow(queue: string, letter: Letter): JobRow {
  return {
    id: letter.id,
    queue,
    function_id: letter.function_id,
    state: 'dead',
    // All of its attempts, whatever name `iii` gave to the field.
    attempt: letter.retries,
    // Whole seconds, as in `iii`.
    enqueued_at: letter.enqueued_at * 1_000,
    due_at: null,
    size_bytes: letter.size_bytes,
    error: letter.error,
    failed_at: letter.failed_at * 1_000,
    first_failed_at: letter.first_failed_at * 1_000,
    reason: letter.reason,
    group: letter.group ?? null,
  };
}

/** Newest first. The cursor counts letters, not matches. */
export async function listDead(context: ConsoleContext, queue: string, query: JobsQuery): Promise<List<JobRow>> {
  const { offset } = placeOf(query);
  const limit = limitOf(query.limit);
  const items: JobRow[] = [];
  let at = offset;
  for await (const letter of lettersOf(context, queue, { offset, query })) {
    at++;
    if (letterMatches(queue, letter, query, context.module.router.nowMs)) items.push(deadRow(queue, letter));
    if (items.length === limit || at - offset === EXAMINED_MAX) {
      return { items, next_cursor: String(at), total: null };
    }
  }
  return { items, next_cursor: null, total: null };
}

/**
 * All of them, newest first, with their payloads where the filter searches these. A job that dies in the meantime moves
 * the rest: a letter may then come twice.
 */
export async function* lettersOf(
  { builtIns }: ConsoleContext,
  queue: string,
  { offset: from = 0, query }: { readonly offset?: number; readonly query: JobFilter },
): AsyncGenerator<Letter> {
  const payloads = query.q !== undefined && query.q !== '';
  let limit = READ_AT_ONCE;
  for (let offset = from; ; ) {
    const asked = { queue, offset, limit, payloads };
    try {
      const page = await builtIns.ask('engine::queue::dlq_messages', asked);
      yield* page;
      if (page.length < limit) return;
      offset += page.length;
    } catch (error) {
      // With large payloads, an answer holds fewer letters.
      const isTooLarge = error instanceof ApiFailure && error.error.code === 'RESULT_TOO_LARGE';
      if (!isTooLarge || limit === 1) throw error;
      limit = Math.ceil(limit / 4);
    }
  }
}

export function letterMatches(queue: string, letter: Letter, filter: JobFilter, nowMs: number): boolean {
  const row = deadRow(queue, letter);
  const { q, ...rest } = filter;
  if (!jobMatches(row, rest, nowMs)) return false;
  if (matches(q, row.id, row.error)) return true;
  return matches(q, JSON.stringify(letter.payload ?? null));
}

export function jobMatches(row: JobRow, filter: JobFilter, nowMs: number): boolean {
  if (filter.function_id !== undefined && row.function_id !== filter.function_id) return false;
  if (filter.attempts_min !== undefined && row.attempt < filter.attempts_min) return false;
  if (filter.older_than_ms !== undefined && nowMs - row.enqueued_at < filter.older_than_ms) return false;
  if (filter.error_group !== undefined && foldError(row.error ?? '') !== filter.error_group) return false;
  if (filter.group !== undefined && !isGroup(row.group, filter.group)) return false;
  return matches(filter.q, row.id, row.error);
}

/** A text may be given with or without its quotation marks. */
function isGroup(json: string | null, wanted: string): boolean {
  return json === wanted || json === JSON.stringify(wanted);
}

export async function groupDead({ builtIns }: ConsoleContext, queue: string, total: number): Promise<DeadGroups> {
  const asked = { queue };
  const { groups, scanned } = await builtIns.ask('engine::queue::dlq_groups', asked);
  return {
    groups: groups.map(({ error, count, newest_id, first_failed_at, last_failed_at }) => ({
      error,
      count,
      newest_id,
      first_at: first_failed_at * 1_000,
      last_at: last_failed_at * 1_000,
    })),
    examined: scanned,
    total: Math.max(total, scanned),
  };
}
