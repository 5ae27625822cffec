// Lists that the engine answers up to a size limit: in one consistent answer if they fit, else in pages.

import { isSvcError } from '../../sdk/calls/errors.ts';

export interface ListPage {
  readonly offset?: number;
  readonly limit?: number;
}

/** Size of the first page, for a list that is too large for one answer. */
const PAGE_SIZE = 1_000;

/** A write between two pages may move items from one page to the next. */
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
