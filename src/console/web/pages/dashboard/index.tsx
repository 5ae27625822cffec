// The Dashboard: the counters that are always available, charts, and the problems that need attention, worst first
// (DSH-1 to DSH-6).

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Counts } from '../../../api/system.ts';
import { ApiError, call } from '../../data/api.ts';
import { useCounters } from '../../data/counters.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { refetchSoon } from '../../data/queries.ts';
import { useStore } from '../../data/store.ts';
import { boundsOf, rangeLabel, useTimeRange } from '../../data/time-range.ts';
import { useLive } from '../../data/use-live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatCount } from '../../kit/charts/times.ts';
import { FirstRun } from '../../kit/feedback/empty-state.tsx';
import { Shape } from '../../kit/feedback/status.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { TimeRangeControl } from '../../kit/inputs/time-range.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Card, Page } from '../../kit/layout/page.tsx';
import { Charts } from './charts.tsx';
import { FlowPreview } from './flow-preview.tsx';
import { type AttentionInput, attentionOf } from './logic/attention.ts';
import { TopFunctions } from './top-functions.tsx';

export default function Dashboard(): ReactNode {
  const { internal } = useStore(preferences);
  const { latest } = useCounters();
  const facts = useDashboardData(internal);
  const counts = latest ?? facts.status?.counts;
  // The console's own server is a worker too, so the number of workers does not show that an engine is new.
  const isNew = counts?.functions === 0;
  return (
    <Page
      title="Dashboard"
      note={
        latest !== undefined && (
          <span className="flex gap-1.5">
            updated <Time ms={latest.at} />
          </span>
        )
      }
      actions={
        <>
          <TimeRangeControl />
          <Toggle label="Internal" checked={internal} onChange={(on) => setPreference('internal', on)} />
        </>
      }
      scrolls
    >
      <div className="mx-auto flex max-w-[1600px] flex-col gap-4 p-4">
        <Counters counts={counts} />
        {isNew ? (
          <FirstRun />
        ) : (
          <>
            <Charts />
            <div className="grid gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
              <AttentionList facts={facts} />
              <FlowPreview />
            </div>
            <TopFunctions functions={facts.functions} />
          </>
        )}
      </div>
    </Page>
  );
}

function Counters({ counts }: { readonly counts: Counts | undefined }): ReactNode {
  const { functions, triggers, workers, workers_active, streams, triggers_in_error } = counts ?? {};
  return (
    <ul className="grid grid-cols-2 gap-4 lg:grid-cols-4">
      <Counter name="Functions" to="/functions" count={functions} note="registered" />
      <Counter
        name="Triggers"
        to="/triggers"
        count={triggers}
        note={triggers_in_error === undefined || triggers_in_error === 0 ? 'bound' : `${triggers_in_error} in error`}
      />
      <Counter
        name="Workers"
        to="/workers"
        count={workers}
        note={workers_active === undefined ? 'connected' : `connected, ${formatCount(workers_active)} active`}
      />
      <Counter name="Streams" to="/streams" count={streams} note={streams === null ? 'no stream module' : 'known'} />
    </ul>
  );
}

interface CounterProps {
  readonly name: string;
  readonly to: string;
  readonly count: number | null | undefined;
  readonly note: string;
}

function Counter({ name, to, count, note }: CounterProps): ReactNode {
  return (
    <li>
      <Link to={to} className="flex flex-col rounded-lg border border-line bg-panel px-4 py-3 hover:border-line-strong">
        <span className="text-sm text-muted">{name}</span>
        <span className="text-2xl font-semibold" data-counter={name}>
          {count === undefined ? (
            <span className="skeleton late inline-block h-6 w-12" />
          ) : count === null ? (
            '–'
          ) : (
            formatCount(count)
          )}
        </span>
        <span className="truncate text-sm text-faint">{count === undefined ? ' ' : note}</span>
      </Link>
    </li>
  );
}

function AttentionList({ facts }: { readonly facts: AttentionInput }): ReactNode {
  const lines = attentionOf(facts);
  return (
    <Card
      title="Needs attention"
      actions={lines.length > 0 && <span className="text-sm text-muted">{lines.length}</span>}
      flush
    >
      {lines.length === 0 ? (
        <p className="flex h-full min-h-40 items-center justify-center gap-2 text-muted">
          <CircleCheck size={16} className="text-good" /> Nothing needs you.
        </p>
      ) : (
        <ul className="max-h-80 overflow-y-auto">
          {lines.map(({ key, tone, title, note, to, search }) => (
            <li key={key} className="border-b border-line last:border-0">
              <Link to={to} search={search} className="flex items-start gap-2.5 px-3 py-2 hover:bg-hover">
                <span className="pt-[5px]">
                  <Shape tone={tone} />
                </span>
                <span className="min-w-0">
                  <span className="block font-medium break-words">{visibleText(title)}</span>
                  <span className="line-clamp-2 text-sm break-words text-muted">{visibleText(note)}</span>
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const EVERY_MS = 5_000;
const ROWS = 1_000;

function useDashboardQuery<T>(
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

function useDashboardData(internal: boolean): AttentionInput {
  const query = { limit: ROWS };
  const { range } = useTimeRange();
  useLive('health', { items: () => refetchSoon(['dashboard']), back: () => refetchSoon(['dashboard']) });
  useLive('registry', { items: () => refetchSoon(['dashboard']) });
  const status = useDashboardQuery('status', (signal) => call('GET /status', { signal }));
  const hasAlerts = { enabled: status?.telemetry.enabled === true };
  const hasQueues = { enabled: (status?.counts.queues ?? null) !== null };
  return {
    status,
    alerts: useDashboardQuery('alerts', (signal) => call('GET /alerts', { signal }), hasAlerts)?.alerts,
    queues: useDashboardQuery('queues', (signal) => call('GET /queues', { query, signal }), hasQueues)?.items,
    triggers: useDashboardQuery('triggers', (signal) => call('GET /triggers', { query: { status: 'Error' }, signal }))
      ?.items,
    functions: useDashboardQuery(`functions ${internal} ${rangeLabel(range)}`, (signal) => {
      const asked = { ...query, ...boundsOf(range, Date.now()), internal, recent: true, sort: 'calls' };
      return call('GET /functions', { query: { ...asked, order: 'desc' }, signal });
    })?.items,
    workers: useDashboardQuery('workers', (signal) => call('GET /workers', { query, signal }))?.items,
    reload: useDashboardQuery('config', (signal) => call('GET /config', { signal }), { once: true })?.last_reload,
  };
}
