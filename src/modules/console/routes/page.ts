// One page of a list that is in memory: sorted, cut, and with the cursor of the next page.

import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, type List, type ListQuery } from '../../../console/api/envelope.ts';
import { failure } from '../sources/failure.ts';

export type SortKeys<T> = Readonly<Record<string, (row: T) => string | number | null>>;

/** Sorted by the word that the query gives, or by the first of `keys`. */
export function pageOf<T>(rows: readonly T[], query: ListQuery, keys: SortKeys<T>): List<T> {
  const { limit, offset } = placeOf(query);
  const sorted = sort(rows, query, keys);
  const items = sorted.slice(offset, offset + limit);
  const end = offset + items.length;
  return { items, next_cursor: end < sorted.length ? String(end) : null, total: sorted.length };
}

/** Where the page begins, for lists whose cursor counts rows. */
export function placeOf({ limit, cursor }: ListQuery): { limit: number; offset: number } {
  const offset = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isSafeInteger(offset) || offset < 0) throw failure('BAD_REQUEST', 'The cursor is none of this list');
  return { limit: limitOf(limit), offset };
}

export function limitOf(limit: number | undefined): number {
  if (limit === undefined) return LIST_LIMIT_DEFAULT;
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIST_LIMIT_MAX) return limit;
  throw failure('BAD_REQUEST', `limit must be a whole number from 1 to ${LIST_LIMIT_MAX}, found ${limit}`);
}

/** A page of a list that was read with one row more than requested. */
export function cut<T>(rows: readonly T[], limit: number, cursorOf: (last: T) => string): List<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next_cursor: rows.length > limit && last !== undefined ? cursorOf(last) : null, total: null };
}

/** Stable. Rows without a value come last. */
function sort<T>(rows: readonly T[], { sort: word, order }: ListQuery, keys: SortKeys<T>): T[] {
  const [first = ''] = Object.keys(keys);
  const keyOf = Object.hasOwn(keys, word ?? first) ? keys[word ?? first] : undefined;
  if (keyOf === undefined) {
    throw failure('BAD_REQUEST', `sort must be one of ${Object.keys(keys).join(', ')}, found '${word}'`);
  }
  const sign = order === 'desc' ? -1 : 1;
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => {
      if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
      return a.key < b.key ? -sign : a.key > b.key ? sign : 0;
    })
    .map(({ row }) => row);
}

/** Whether a text contains another, ignoring case. An absent search text is in every text. */
export function matches(wanted: string | undefined, ...texts: readonly (string | null)[]): boolean {
  if (wanted === undefined || wanted === '') return true;
  const lower = wanted.toLowerCase();
  return texts.some((text) => text?.toLowerCase().includes(lower));
}
