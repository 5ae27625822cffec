// A list of the engine, read page by page while it is scrolled: `useList(['functions', q], (page) => call(...))`.

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { List } from '../../../console-api/envelope.ts';
import { queryClient, readAnew } from './queries.ts';

export interface ListPage {
  readonly cursor?: string;
  readonly limit: number;
}

export interface ListState<T> {
  /** Undefined until the first answer. */
  readonly items: readonly T[] | undefined;
  readonly total: number | null;
  readonly error: unknown;
  readonly isOld: boolean;
  readonly refetch: () => void;
  /** Set when the list changed but is too long to be read again automatically. Reads it again from its beginning. */
  readonly catchUp: (() => void) | undefined;
  /** For the table: reads the next page unless that is under way. Undefined when there are no more. */
  readonly more: (() => void) | undefined;
}

const PAGE_ROWS = 500;

export function useList<T>(
  key: readonly unknown[],
  read: (page: ListPage, signal: AbortSignal) => Promise<List<T>>,
  { enabled = true }: { readonly enabled?: boolean } = {},
): ListState<T> {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      read({ limit: PAGE_ROWS, ...(pageParam !== undefined && { cursor: pageParam }) }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    enabled,
  });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query;
  const hasChanged = useSyncExternalStore(
    (heard) => queryClient.getQueryCache().subscribe(heard),
    () => queryClient.getQueryState(key)?.isInvalidated === true,
  );
  const items = useMemo(() => data?.pages.flatMap((page) => page.items), [data]);
  return {
    items,
    total: data?.pages[0]?.total ?? null,
    error: query.error,
    isOld: query.isPlaceholderData,
    refetch: () => void refetch(),
    catchUp: hasChanged && !query.isFetching ? () => readAnew(key) : undefined,
    // A page that failed is not requested again and again.
    more:
      hasNextPage && !query.isFetchNextPageError
        ? () => {
            if (!isFetchingNextPage) void fetchNextPage();
          }
        : undefined,
  };
}

/** How many rows a page reads of a list without scrolling. */
const READ_ON_ROWS_MAX = 10_000;

/** Reads to the end, for pages that count rows in parts of the list: half a list would give wrong counts. */
export function useWholeList({ items, more }: Pick<ListState<unknown>, 'items' | 'more'>, isWanted: boolean): void {
  useEffect(() => {
    if (isWanted && (items?.length ?? 0) < READ_ON_ROWS_MAX) more?.();
  });
}
