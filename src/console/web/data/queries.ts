// The one cache of server data. Lists are read once and patched by live frames (LIV-7).

import { type InfiniteData, type Query, QueryClient, type QueryKey } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
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

// An engine that came back may hold other data than before.
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
export function readAnew(key: QueryKey): void {
  queryClient.setQueriesData<InfiniteData<unknown>>({ queryKey: key }, (data) =>
    pagesOf(data).length < 2 || data === undefined
      ? data
      : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
  );
  void queryClient.invalidateQueries({ queryKey: key });
}
