// The list of traces: filters, the scatter plot of durations, live rows (TRC-1 to TRC-3).

import { useNavigate } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import type { TraceRow } from '../../../../api/telemetry.ts';
import { useKeys } from '../../../app/keys.ts';
import { call } from '../../../data/api.ts';
import { preferences, setPreference } from '../../../data/preferences.ts';
import { param, usePageSearch } from '../../../data/search.ts';
import { useStore } from '../../../data/store.ts';
import { boundsOf, LIVE, rangeLabel, type TimeRange, useTimeRange } from '../../../data/time-range.ts';
import { formatCount } from '../../../kit/charts/times.ts';
import { ClearAll } from '../../../kit/feedback/confirm.tsx';
import { EmptyState, FailedState, Loading, NoMatch, Snippet } from '../../../kit/feedback/empty-state.tsx';
import { Waiting } from '../../../kit/feedback/live-changes.tsx';
import { Button } from '../../../kit/inputs/button.tsx';
import { Toggle } from '../../../kit/inputs/field.tsx';
import { RangeNote, TimeRangeControl } from '../../../kit/inputs/time-range.tsx';
import { Page } from '../../../kit/layout/page.tsx';
import { Table } from '../../../kit/table/table.tsx';
import {
  filterText,
  parseTraceFilters,
  printTraceFilters,
  type TraceFilter,
  traceFilter,
  traceSearchOf,
  withFilter,
} from '../logic/trace-filters.ts';
import { FileButton } from './drop-file.tsx';
import { traceColumns } from './list-columns.tsx';
import { Scatter } from './scatter.tsx';
import { TraceFilters } from './trace-filters.tsx';
import { type TraceOrder, useTraces } from './use-traces.ts';

const SEARCH = {
  f: param.text(),
  /** A function, for links from other pages. */
  fn: param.text(),
  sort: param.choice(['start_time', 'duration', 'name']),
  order: param.choice(['desc', 'asc']),
};

const keyOf = ({ trace_id }: TraceRow): string => trace_id;

export function TraceList(): ReactNode {
  const { search, setSearch } = usePageSearch(SEARCH);
  const { internal } = useStore(preferences);
  const [isPaused, setPaused] = useState(false);
  const [isScrolled, setScrolled] = useState(false);
  const filters = useMemo(() => {
    const parsed = parseTraceFilters(search.f);
    return search.fn === '' ? parsed : withFilter(parsed, traceFilter('function', search.fn));
  }, [search.f, search.fn]);
  const setFilters = useCallback(
    (next: readonly TraceFilter[]) => setSearch({ f: printTraceFilters(next), fn: '' }),
    [setSearch],
  );
  // Relative times are resolved once for each change of the filters: a query that changed every second would never
  // settle.
  const { range, setRange } = useTimeRange();
  const question = useMemo(
    () => ({
      ...boundsOf(range, Date.now()),
      ...traceSearchOf(filters, Date.now()),
      ...(internal && { include_internal: true }),
    }),
    [range, filters, internal],
  );
  const traces = useTraces(question, search, isPaused || isScrolled);
  useKeys([{ keys: ['p'], name: 'Pause or resume live', run: () => setPaused((now) => !now) }]);
  return (
    <Page
      title="Traces"
      note={traces.total === null ? undefined : formatCount(traces.total)}
      actions={
        <>
          <TimeRangeControl />
          <LiveSwitch {...{ isPaused, setPaused }} isLive={traces.isLive} />
          <FileButton />
          <ClearAll what="traces" onCleared={traces.refetch}>
            Every stored span is removed from the engine. Logs and metrics stay.
          </ClearAll>
        </>
      }
      toolbar={
        <TraceFilters filters={filters} setFilters={setFilters} rows={traces.items ?? []}>
          <Toggle label="Internal" checked={internal} onChange={(on) => setPreference('internal', on)} />
        </TraceFilters>
      }
    >
      <div
        className="relative flex h-full min-h-0 flex-col"
        onScrollCapture={(event) => setScrolled(event.target instanceof HTMLElement && event.target.scrollTop > 4)}
      >
        <Waiting
          count={traces.waitingCount}
          dropped={traces.droppedCount}
          release={() => {
            setPaused(false);
            traces.release();
            document.querySelector('[data-list]')?.scrollTo({ top: 0 });
          }}
        />
        <RangeNote kind="traces" startMs={question.start_time} list={traces} />
        <TraceTable
          {...{ traces, filters, setFilters, range, setRange }}
          order={search}
          onSort={(sort, order) => setSearch({ sort, order })}
        />
      </div>
    </Page>
  );
}

interface TraceTableProps {
  readonly traces: ReturnType<typeof useTraces>;
  readonly filters: readonly TraceFilter[];
  readonly setFilters: (filters: readonly TraceFilter[]) => void;
  readonly range: TimeRange;
  readonly setRange: (range: TimeRange) => void;
  readonly order: TraceOrder;
  readonly onSort: (sort: TraceOrder['sort'], order: TraceOrder['order']) => void;
}

function TraceTable(props: TraceTableProps): ReactNode {
  const { traces, filters, setFilters, range, setRange, order, onSort } = props;
  const navigate = useNavigate();
  const { items, error } = traces;
  const longestMs = useMemo(() => (items ?? []).reduce((max, row) => Math.max(max, row.duration_ms), 0), [items]);
  const columns = useMemo(() => traceColumns(longestMs), [longestMs]);
  if (items === undefined) {
    if (error === null) return <Loading what="the traces" />;
    return <FailedState error={error} what="Traces" shows="every call from end to end" retry={traces.refetch} />;
  }
  if (items.length === 0) {
    const active = filters.filter((filter) => !filter.isOff);
    const isBounded = range.from !== '' || range.to !== '';
    if (active.length === 0 && !isBounded) return <NoTraces />;
    return (
      <NoMatch
        what="traces"
        total={(signal) => call('POST /traces/search', { body: { limit: 1 }, signal })}
        filters={[
          ...active.map((filter) => ({
            label: filterText(filter),
            remove: () => setFilters(filters.filter((one) => one !== filter)),
          })),
          ...(isBounded ? [{ label: rangeLabel(range), remove: () => setRange(LIVE) }] : []),
        ]}
      />
    );
  }
  return (
    <>
      <Scatter
        rows={items}
        onOpen={(row) => void navigate({ to: `/traces/${row.trace_id}` })}
        onSelect={(area) => {
          const { min, max, from = range.from, to = range.to } = area;
          let next: readonly TraceFilter[] = filters;
          if (min !== undefined) next = withFilter(next, traceFilter('min', min));
          if (max !== undefined) next = withFilter(next, traceFilter('max', max));
          if (next !== filters) setFilters(next);
          setRange({ from, to });
        }}
      />
      <div className="min-h-0 flex-1">
        <Table
          name="traces"
          label="Traces"
          columns={columns}
          rows={items}
          keyOf={keyOf}
          sort={{
            by: order.sort,
            order: order.order,
            onSort: (by, direction) => onSort(by === 'duration' || by === 'name' ? by : 'start_time', direction),
          }}
          onOpen={(row) => void navigate({ to: `/traces/${row.trace_id}` })}
          total={traces.total}
          onNearEnd={traces.more}
        />
      </div>
    </>
  );
}

function NoTraces(): ReactNode {
  return (
    <EmptyState title="No traces yet">
      <p>A trace appears here as soon as a function is called, from anywhere. Call one:</p>
      <Snippet text="svc trigger hello::greet name=Ada" label="command" />
      <p>Calls of the engine itself are hidden unless the switch “Internal” is on.</p>
    </EmptyState>
  );
}

function LiveSwitch({
  isPaused,
  setPaused,
  isLive,
}: {
  readonly isPaused: boolean;
  readonly setPaused: (on: boolean) => void;
  readonly isLive: boolean;
}): ReactNode {
  if (!isLive) return <span className="text-sm text-muted">Not live with this sorting or filter</span>;
  return (
    <Button
      aria-pressed={isPaused}
      title="p"
      icon={isPaused ? <Play size={13} /> : <Pause size={13} />}
      onClick={() => setPaused(!isPaused)}
    >
      {isPaused ? 'Resume' : 'Pause'}
    </Button>
  );
}
