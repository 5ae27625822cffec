// The one cache of server data. Lists are read once and patched by live frames (LIV-7). A long list is read page by
// page while it is scrolled: `useList(['functions', q], (page) => call(...))`.

import {
  type InfiniteData,
  keepPreviousData,
  type Query,
  QueryClient,
  type QueryKey,
  useInfiniteQuery,
} from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { MissingEngine, Retention } from '../../../core/telemetry/records/retention.ts';
import type { RetainedList } from '../../api/telemetry.ts';
import { ApiError } from './api.ts';
import { connection } from './connection.ts';

/** Live changes cause at most one new read of a list in this time. */
const REFETCH_GAP_MS = 1_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 5 * 60_000,
      retry: (failures, thrown) => failures < 2 && thrown instanceof ApiError && thrown.exchange.status >= 500,
      retryDelay: (attempt) => 400 * 2 ** attempt,
      refetchOnWindowFocus: false,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

// An engine that restarted may hold other data than before.
let wasDown = false;
connection.subscribe(() => {
  const { state } = connection.get();
  if (state === 'up' && wasDown) void queryClient.invalidateQueries();
  wasDown = state === 'down';
});

const due = new Map<string, ReturnType<typeof setTimeout>>();

/**
 * Schedules a new read of that list. A burst of changes causes one read a second (LIV-7). A list of very many pages is
 * only marked as old, because reading all of its pages every second would cost too much.
 */
export function refetchSoon(key: QueryKey): void {
  const name = JSON.stringify(key);
  if (due.has(name)) return;
  due.set(
    name,
    setTimeout(() => {
      due.delete(name);
      void queryClient.invalidateQueries({ queryKey: key, predicate: (query) => !isLong(query) });
      void queryClient.invalidateQueries({ queryKey: key, predicate: isLong, refetchType: 'none' });
    }, REFETCH_GAP_MS),
  );
}

const LIVE_PAGES_MAX = 20;

function isLong({ state }: Query): boolean {
  return pagesOf(state.data).length > LIVE_PAGES_MAX;
}

function pagesOf(data: unknown): readonly unknown[] {
  return typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages) ? data.pages : [];
}

/** Reads lists again from their first page, however many pages had been read. */
export function readAgain(key: QueryKey): void {
  queryClient.setQueriesData<InfiniteData<unknown>>({ queryKey: key }, (data) =>
    pagesOf(data).length < 2 || data === undefined
      ? data
      : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
  );
  void queryClient.invalidateQueries({ queryKey: key });
}

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
  /** Only of observed data: what is stored of it. */
  readonly retention: Retention | undefined;
  readonly missingEngines: readonly MissingEngine[];
  readonly refetch: () => void;
  /** Set when the list changed but is too long to be read again automatically. Reads it again from its beginning. */
  readonly catchUp: (() => void) | undefined;
  /** For the table: reads the next page unless that read is running. Undefined when there are no more. */
  readonly more: (() => void) | undefined;
}

const PAGE_ROWS = 500;
const NO_ENGINES: readonly MissingEngine[] = [];

export function useList<T>(
  key: readonly unknown[],
  read: (page: ListPage, signal: AbortSignal) => Promise<RetainedList<T>>,
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
    retention: data?.pages[0]?.retention,
    missingEngines: data?.pages[0]?.missing_engines ?? NO_ENGINES,
    refetch: () => void refetch(),
    catchUp: hasChanged && !query.isFetching ? () => readAgain(key) : undefined,
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
