// The Dashboard's queries to the engine. Answers of modules that are not loaded are absent.

import { useQuery } from '@tanstack/react-query';
import { ApiError, call } from '../../data/api.ts';
import { refetchSoon } from '../../data/queries.ts';
import { useLive } from '../../data/use-live.ts';
import type { AttentionFacts } from './logic/attention.ts';

const EVERY_MS = 5_000;
const ROWS = 1_000;

function useFact<T>(
  name: string,
  read: (signal: AbortSignal) => Promise<T>,
  options: { once?: boolean; enabled?: boolean } = {},
): T | undefined {
  return useQuery({
    queryKey: ['dashboard', name],
    queryFn: ({ signal }) => read(signal),
    refetchInterval: ({ state }) =>
      options.once === true || (state.error instanceof ApiError && state.error.exchange.status === 404)
        ? false
        : EVERY_MS,
    retry: false,
    enabled: options.enabled ?? true,
  }).data;
}

export function useDashboardFacts(internal: boolean): AttentionFacts {
  const query = { limit: ROWS };
  useLive('health', { items: () => refetchSoon(['dashboard']), back: () => refetchSoon(['dashboard']) });
  useLive('registry', { items: () => refetchSoon(['dashboard']) });
  const status = useFact('status', (signal) => call('GET /status', { signal }));
  const hasAlerts = { enabled: status?.telemetry.enabled === true };
  const hasQueues = { enabled: (status?.counts.queues ?? null) !== null };
  return {
    status,
    alerts: useFact('alerts', (signal) => call('GET /alerts', { signal }), hasAlerts)?.alerts,
    queues: useFact('queues', (signal) => call('GET /queues', { query, signal }), hasQueues)?.items,
    triggers: useFact('triggers', (signal) => call('GET /triggers', { query: { status: 'Error' }, signal }))?.items,
    functions: useFact(`functions ${internal}`, (signal) =>
      call('GET /functions', { query: { ...query, internal, recent: true, sort: 'calls', order: 'desc' }, signal }),
    )?.items,
    workers: useFact('workers', (signal) => call('GET /workers', { query, signal }))?.items,
    reload: useFact('config', (signal) => call('GET /config', { signal }), { once: true })?.last_reload,
  };
}
