// Lists that the engine gives out up to a limit: whole where they are within it, and of one moment; in pages where they
// are not.

import { isSvcError } from '../sdk/errors.ts';

export interface ListPage {
  readonly offset?: number;
  readonly limit?: number;
}

/** Of the first page, where the list is too large to be had at once. */
const PAGE_SIZE = 1_000;

/** What is written between two pages may move items from one to the next. */
export async function inPages<Item>(fetch: (page: ListPage) => Promise<readonly Item[]>): Promise<Item[]> {
  const found: Item[] = [];
  let limit: number | undefined;
  for (;;) {
    let items: readonly Item[];
    try {
      items = await fetch(limit === undefined ? {} : { offset: found.length, limit });
    } catch (error) {
      if (!(isSvcError(error) && error.code === 'RESULT_TOO_LARGE') || limit === 1) throw error;
      limit = limit === undefined ? PAGE_SIZE : Math.ceil(limit / 2);
      continue;
    }
    for (const item of items) found.push(item);
    if (limit === undefined || items.length < limit) return found;
  }
}
