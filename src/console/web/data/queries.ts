// The one cache of server data. Lists are asked for once and patched by live frames (LIV-7).

import { type InfiniteData, type Query, QueryClient, type QueryKey } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
import { connection } from './connection.ts';

/** No list is asked for again more often than this because of live changes. */
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

// An engine that came back may hold other things than the one that left.
let wasDown = false;
connection.subscribe(() => {
  const { state } = connection.get();
  if (state === 'up' && wasDown) void queryClient.invalidateQueries();
  wasDown = state === 'down';
});

const due = new Map<string, ReturnType<typeof setTimeout>>();

/**
 * Has that list fetched again soon; a burst of changes asks once a second (LIV-7). One of very many pages is only
 * marked as old: reading all of them again, each second, would cost more than it tells.
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

/** Reads lists anew from their first page, however far they had been read. */
export function readAnew(key: QueryKey): void {
  queryClient.setQueriesData<InfiniteData<unknown>>({ queryKey: key }, (data) =>
    pagesOf(data).length < 2 || data === undefined
      ? data
      : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
  );
  void queryClient.invalidateQueries({ queryKey: key });
}
