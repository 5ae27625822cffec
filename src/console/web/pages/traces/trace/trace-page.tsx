// An open trace: five views of it, which share one selection, one time range and one search (TRC-4).

import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { explainRetention, type Retention } from '../../../../../core/telemetry/records/retention.ts';
import type { MissingTrace } from '../../../../api/telemetry.ts';
import { ApiError, isNotFound } from '../../../data/api.ts';
import { type SearchState, usePageSearch } from '../../../data/search.ts';
import type { TimeRange } from '../../../kit/charts/time-scale.ts';
import { formatCountOf, formatDuration, formatLocal } from '../../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading } from '../../../kit/feedback/empty-state.tsx';
import { Announce } from '../../../kit/feedback/live-changes.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import { Page } from '../../../kit/layout/page.tsx';
import { Compare } from '../list/compare.tsx';
import { rootName } from '../logic/critical-path.ts';
import { spanWords } from '../logic/span-words.ts';
import { printTraceFilters, traceFilter } from '../logic/trace-filters.ts';
import { visibleRows } from '../logic/trace-rows.ts';
import type { TraceView } from '../logic/trace-session.ts';
import type { AttributeActions } from '../views/attribute-list.tsx';
import { useServiceColours } from '../views/colours.ts';
import { indexRows } from '../views/draw-waterfall.ts';
import { Flame, type FlameProps } from '../views/flame.tsx';
import { TraceMapView } from '../views/map.tsx';
import { Services } from '../views/services.tsx';
import { SpanPanel } from '../views/span-panel.tsx';
import { Waterfall } from '../views/waterfall.tsx';
import { TraceActions, TraceNote, TraceToolbar } from './trace-toolbar.tsx';
import { type OpenTrace, type TraceSource, useTrace } from './use-trace.ts';
import { logDots, TRACE_SEARCH, useFind, useRowsView, useTraceKeys, useTraceLogs } from './use-trace-view.ts';

export function TracePage({ source }: { readonly source: TraceSource }): ReactNode {
  const trace = useTrace(source);
  const { view, client } = trace;
  if (view !== undefined && client !== undefined && view.columns.count > 0) {
    return <LoadedTrace source={source} trace={trace} view={view} client={client} />;
  }
  const name = source.from === 'engine' ? source.traceId : 'File';
  return (
    <Page title={`Trace ${name.slice(0, 8)}`}>
      {isNotFound(trace.error) ? (
        <NoSuchTrace error={trace.error} />
      ) : trace.error !== undefined ? (
        <FailedState error={trace.error} what="Traces" shows="every span of a trace" retry={trace.reload} />
      ) : view === undefined ? (
        <Loading what="the trace" />
      ) : (
        <NoSuchTrace />
      )}
    </Page>
  );
}

function NoSuchTrace({ error }: { readonly error?: unknown }): ReactNode {
  const retention = retentionIn(error);
  return (
    <EmptyState title="This trace is not stored">
      {retention === undefined ? (
        <p>The file has no spans.</p>
      ) : (
        explainRetention('traces', retention, formatLocal).map((sentence) => <p key={sentence}>{sentence}</p>)
      )}
      <p>An exported trace can be opened from its file.</p>
      <Link to="/traces" search={{}} className="text-accent hover:underline">
        All traces
      </Link>
    </EmptyState>
  );
}

/** Of a trace that the engine does not have. */
function retentionIn(error: unknown): Retention | undefined {
  if (!isNotFound(error) || !(error instanceof ApiError)) return undefined;
  // The engine answers in the shape of the contract.
  return (error.details as Partial<MissingTrace> | undefined)?.retention;
}

interface LoadedProps {
  readonly source: TraceSource;
  readonly trace: OpenTrace;
  readonly view: TraceView;
  readonly client: NonNullable<OpenTrace['client']>;
}

function LoadedTrace(props: LoadedProps): ReactNode {
  const { source, trace, view, client } = props;
  const { columns } = view;
  const { search, setSearch } = usePageSearch(TRACE_SEARCH);
  const serviceColours = useServiceColours(columns.services);
  const isFile = source.from === 'file';
  const logs = useTraceLogs(isFile ? undefined : columns.traceId, columns.pendingCount > 0);
  const find = useFind(client, view, search.q, logs);
  const rowsView = useRowsView(view, search.level, search.only, search.fold, find.found);
  const rows = useMemo(() => visibleRows(columns, rowsView.rowsView), [columns, rowsView.rowsView]);
  const index = useMemo(() => indexRows(view, search.logs ? logDots(view, logs) : []), [view, logs, search.logs]);
  const { whole, range, setRange } = useTimeRange(columns.durationMs, { search, setSearch });
  const selectedAt =
    search.span === undefined ? -1 : columns.ids.indexOf(view.mergedInto.get(search.span) ?? search.span);
  const selected = selectedAt === -1 ? undefined : selectedAt;
  const select = (row: number): void => {
    rowsView.reveal(row);
    setSearch({ span: columns.ids[row] });
  };
  const attributeColumns = useAttributeColumns(client, view, search.cols);
  useTraceKeys({ view, range, whole, setRange, selected, select, find });
  const attributeActions = useAttributeActions((key) => setSearch({ cols: [...search.cols, key] }));
  useArrangement(trace, search);
  const clock = { range, whole, onRange: setRange };
  const shared = { client, view, serviceColours, ...clock, selected, onSelect: select, found: find.shown };
  return (
    <Page
      title={titleOf(view)}
      note={<TraceNote view={view} isFile={isFile} />}
      actions={<TraceActions view={view} isFile={isFile} reload={trace.reload} />}
      toolbar={
        <TraceToolbar
          {...{ search, setSearch, find, select, view, range, setRange, whole, selected }}
          setLevel={(level) => {
            rowsView.forget();
            setSearch({ level });
          }}
        />
      }
      detail={
        selected === undefined ? undefined : (
          <SpanPanel
            {...{ client, view, logs, attributeActions, isFile }}
            row={selected}
            tab={search.tab}
            onTab={(tab) => setSearch({ tab })}
            onClose={() => setSearch({ span: undefined, tab: 'info' })}
            onSelectSpan={(span) => setSearch({ span })}
          />
        )
      }
    >
      {search.view === 'waterfall' && (
        <Waterfall
          {...shared}
          {...{ rows, index, attributeColumns }}
          rowsView={rowsView.rowsView}
          onToggle={rowsView.toggle}
          onToggleFold={rowsView.toggleFold}
          onLoadBelow={(row) => trace.loadBelow(deepestOf(view, columns.ids[row] ?? ''))}
          showsPath={search.path}
        />
      )}
      <OtherViews {...shared} {...{ search, setSearch }} />
      <Announce text={`${formatCountOf(columns.spanCount, 'span')} in ${formatDuration(view.durationMs)}`} />
    </Page>
  );
}

type OtherViewsProps = Pick<TracePageState, 'search' | 'setSearch'> &
  Omit<FlameProps, 'order' | 'onOrder'> &
  Pick<LoadedProps, 'client'>;

/** The spans in the views other than the waterfall (TRC-4). */
function OtherViews({ search, setSearch, ...shared }: OtherViewsProps): ReactNode {
  const showOnly = (q: string): void => setSearch({ view: 'waterfall', q, only: 'found' });
  switch (search.view) {
    case 'waterfall':
      return undefined;
    case 'flame':
      return <Flame {...shared} order={search.order} onOrder={(order) => setSearch({ order })} />;
    case 'services':
      return <Services {...shared} onService={showOnly} />;
    case 'compare':
      return (
        <Compare
          {...shared}
          other={search.with}
          onOther={(id) => setSearch({ with: id }, { push: true })}
          onlyChanges={search.changes}
        />
      );
    case 'map':
      return (
        <TraceMapView
          {...shared}
          by={search.by}
          onBy={(by) => setSearch({ by })}
          onNode={(node) => showOnly(node.name)}
        />
      );
  }
}

/** The span of a row below which its children are. */
function deepestOf({ mergedInto }: TraceView, id: string): string {
  for (const [handler, call] of mergedInto) if (call === id) return handler;
  return id;
}

function titleOf({ columns }: TraceView): string {
  return visibleText(spanWords(rootName(columns), true)) || 'Trace';
}

type TracePageState = SearchState<typeof TRACE_SEARCH>;

interface TimeRangeState {
  readonly whole: TimeRange;
  readonly range: TimeRange;
  readonly setRange: (range: TimeRange) => void;
}

/** The visible part of the trace, which the address holds (TRC-6). */
function useTimeRange(durationMs: number, { search, setSearch }: TracePageState): TimeRangeState {
  const { from, to } = search;
  const whole: TimeRange = useMemo(() => ({ fromMs: 0, toMs: Math.max(durationMs, 1e-3) }), [durationMs]);
  const range: TimeRange = useMemo(
    () => ({ fromMs: from ?? whole.fromMs, toMs: Math.max(to ?? whole.toMs, (from ?? 0) + 1e-4) }),
    [from, to, whole],
  );
  const setRange = (next: TimeRange): void => {
    const isWhole = next.fromMs <= whole.fromMs && next.toMs >= whole.toMs;
    setSearch(isWhole ? { from: undefined, to: undefined } : { from: rounded(next.fromMs), to: rounded(next.toMs) });
  };
  return { whole, range, setRange };
}

/** The sixth decimal is a nanosecond; more digits are noise in an address. */
function rounded(ms: number): number {
  return Math.round(ms * 1e6) / 1e6;
}

function useAttributeColumns(
  client: LoadedProps['client'],
  view: TraceView,
  keys: readonly string[],
): { key: string; values: readonly (string | null)[] }[] {
  const [columns, setColumns] = useState<{ key: string; values: readonly (string | null)[] }[]>([]);
  const wanted = keys.join('\n');
  useEffect(() => {
    let isCurrent = true;
    const asked = wanted === '' ? [] : wanted.split('\n');
    void Promise.all(asked.map(async (key) => ({ key, values: await client.ask({ op: 'column', key }) }))).then(
      (next) => isCurrent && view !== undefined && setColumns(next),
    );
    return () => {
      isCurrent = false;
    };
  }, [client, view, wanted]);
  return columns;
}

function useAttributeActions(addColumn: (key: string) => void): AttributeActions {
  const navigate = useNavigate();
  const open = (key: string, value: string, isNot: boolean): void => {
    void navigate({ to: '/traces', search: { f: printTraceFilters([traceFilter('attr', value, { key, isNot })]) } });
  };
  return {
    filterBy: (key, value) => open(key, value, false),
    exclude: (key, value) => open(key, value, true),
    addColumn,
  };
}

/** Once for each change of a switch, and for a trace that is read again. */
function useArrangement({ arrange, client }: OpenTrace, { clocks, sides, gaps }: TracePageState['search']): void {
  const isDefault = !clocks && !sides && gaps;
  const isArranged = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `arrange` is a new function each time
  useEffect(() => {
    if (isDefault && !isArranged.current) return;
    isArranged.current = true;
    arrange({ correctsClocks: clocks, showsBothSides: sides, shortensGaps: gaps });
  }, [client, clocks, sides, gaps, isDefault]);
}
