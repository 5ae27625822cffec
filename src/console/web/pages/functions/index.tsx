// The Functions page: every function of the engine, and the detail of one.

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback } from 'react';
import type { FunctionFigures, FunctionRow } from '../../../api/registry.ts';
import { call } from '../../data/api.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { type ListState, refetchSoon, useList, useWholeList } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { useStore } from '../../data/store.ts';
import { boundsOf, useTimeRange } from '../../data/time-range.ts';
import { useLive } from '../../data/use-live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatCount, formatDuration, formatRate, formatShare } from '../../kit/charts/times.ts';
import { type ActiveFilter, FailedState, FirstRun, Loading, NoMatch } from '../../kit/feedback/empty-state.tsx';
import { Badge, WordStatus } from '../../kit/feedback/status.tsx';
import { TriggerIcons } from '../../kit/feedback/trigger-icon.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { FilterBar, Pill } from '../../kit/inputs/filter-bar.tsx';
import { CountedNote, TimeRangeControl } from '../../kit/inputs/time-range.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Page } from '../../kit/layout/page.tsx';
import type { Column } from '../../kit/table/column.ts';
import { ofLines, useGroupedRows } from '../../kit/table/grouped-rows.tsx';
import { Table } from '../../kit/table/table.tsx';
import { FunctionDetailPanel } from './detail.tsx';
import { FUNCTIONS_SEARCH } from './search.ts';

const NONE = <span className="text-faint">–</span>;

function figure(
  id: string,
  header: string,
  read: (figures: FunctionFigures) => number | null,
  write: (value: number) => string,
  sort?: string,
): Column<FunctionRow> {
  return {
    id,
    header,
    width: 92,
    align: 'right',
    optional: id !== 'calls_per_minute' && id !== 'error_rate' && id !== 'p95_ms',
    ...(sort !== undefined && { sort }),
    text: ({ figures }) => (figures === null ? null : read(figures)),
    cell: ({ figures }) => {
      const value = figures === null ? null : read(figures);
      if (value === null) return NONE;
      return <span className={id === 'error_rate' && value > 0 ? 'text-bad' : undefined}>{write(value)}</span>;
    },
  };
}

function moment(id: string, header: string, read: (figures: FunctionFigures) => number | null): Column<FunctionRow> {
  return {
    id,
    header,
    width: 110,
    optional: true,
    text: ({ figures }) => (figures === null ? null : read(figures)),
    cell: ({ figures }) => {
      const ms = figures === null ? null : read(figures);
      return ms === null ? NONE : <Time ms={ms} />;
    },
  };
}

const COLUMNS: readonly Column<FunctionRow>[] = [
  {
    id: 'function_id',
    header: 'Function ID',
    width: 220,
    grow: 3,
    sort: 'id',
    cell: ({ function_id, internal }) => (
      <>
        <CopyId id={function_id} what="function id" className="text-text" />
        {internal && <Badge>internal</Badge>}
      </>
    ),
    text: ({ function_id }) => function_id,
  },
  {
    id: 'triggers',
    header: 'Triggers',
    width: 110,
    sort: 'triggers',
    cell: ({ triggers }) => (triggers.count === 0 ? NONE : <TriggerIcons {...triggers} />),
    text: ({ triggers }) => triggers.count,
  },
  {
    id: 'workers',
    header: 'Workers',
    width: 140,
    grow: 1,
    sort: 'worker',
    cell: ({ workers, worker_name }) => (
      <span className="truncate text-muted">
        {visibleText(worker_name)}
        {workers.length > 1 && ` ×${workers.length}`}
      </span>
    ),
    text: ({ workers }) => workers.map(({ name }) => name).join(' '),
  },
  {
    id: 'status',
    header: 'Status',
    width: 104,
    keeps: true,
    cell: ({ status }) => <WordStatus word={status} />,
    text: ({ status }) => status,
  },
  figure('calls_per_minute', 'Calls/min', (figures) => figures.calls_per_minute, formatRate, 'calls'),
  figure('error_rate', 'Errors', (figures) => figures.error_rate, formatShare, 'errors'),
  figure('p95_ms', 'p95', (figures) => figures.p95_ms, formatDuration, 'p95'),
  moment('last_call_at', 'Last call', (figures) => figures.last_call_at),
  moment('last_error_at', 'Last error', (figures) => figures.last_error_at),
  {
    id: 'description',
    header: 'Description',
    width: 200,
    grow: 1,
    optional: true,
    cell: ({ description }) => <span className="truncate text-muted">{visibleText(description ?? '')}</span>,
    text: ({ description }) => description,
  },
];

export default function Functions(): ReactNode {
  const { search, setSearch } = usePageSearch(FUNCTIONS_SEARCH);
  const { internal } = useStore(preferences);
  const { q, ns, worker, sort, order, id } = search;
  const { range } = useTimeRange();
  const list = useList(['functions', q, ns, worker, sort, order, internal, range], (page, signal) => {
    const window = boundsOf(range, Date.now());
    return call('GET /functions', { query: { ...page, ...window, q, ns, worker, sort, order, internal }, signal });
  });
  useLive('registry', { items: () => refetchSoon(['functions']), back: () => refetchSoon(['functions']) });
  const setQ = useCallback((text: string) => setSearch({ q: text }), [setSearch]);
  return (
    <Page
      title="Functions"
      note={list.total === null ? undefined : formatCount(list.total)}
      actions={<TimeRangeControl />}
      toolbar={
        <FilterBar label="Search functions" value={q} onChange={setQ}>
          {ns !== '' && <Pill label={`Namespace ${ns}`} on onToggle={() => setSearch({ ns: '' })} />}
          {worker !== '' && <Pill label={`Worker ${worker}`} on onToggle={() => setSearch({ worker: '' })} />}
          <Toggle label="Group" checked={search.group} onChange={(group) => setSearch({ group })} />
          <Toggle label="Internal" checked={internal} onChange={(on) => setPreference('internal', on)} />
        </FilterBar>
      }
      detail={
        id === undefined ? undefined : (
          <FunctionDetailPanel
            key={id}
            id={id}
            tab={search.tab}
            setTab={(tab) => setSearch({ tab })}
            onClose={() => setSearch({ id: undefined, tab: 'invoke' }, { push: true })}
          />
        )
      }
    >
      <div className="flex h-full min-h-0 flex-col">
        <CountedSince />
        <div className="min-h-0 flex-1">
          <FunctionList list={list} />
        </div>
      </div>
    </Page>
  );
}

function CountedSince(): ReactNode {
  const { range } = useTimeRange();
  const { data } = useQuery({
    queryKey: ['calls since', range],
    queryFn: ({ signal }) => call('GET /calls', { query: boundsOf(range, Date.now()), signal }),
    enabled: range.from !== '',
    retry: false,
  });
  return <CountedNote what="Calls" range={range} sinceMs={data?.since_ms ?? null} />;
}

function FunctionList({ list }: { readonly list: ListState<FunctionRow> }): ReactNode {
  const { search, setSearch } = usePageSearch(FUNCTIONS_SEARCH);
  const { items, error } = list;
  const { internal } = useStore(preferences);
  useWholeList(list, search.group);
  const grouped = useGroupedRows({
    rows: items ?? NO_FUNCTIONS,
    keyOf,
    groupOf: search.group ? namespaceOf : undefined,
    nameOf,
    onOpen: (row) => setSearch({ id: row.function_id }, { push: true }),
    isPart: list.more !== undefined,
  });
  if (items === undefined) {
    if (error === null) return <Loading what="the functions" />;
    return <FailedState error={error} what="Functions" shows="every function" retry={list.refetch} />;
  }
  const filters: ActiveFilter[] = [
    ...(search.q === '' ? [] : [{ label: `search: ${search.q}`, remove: () => setSearch({ q: '' }) }]),
    ...(search.ns === '' ? [] : [{ label: `namespace: ${search.ns}`, remove: () => setSearch({ ns: '' }) }]),
    ...(search.worker === '' ? [] : [{ label: `worker: ${search.worker}`, remove: () => setSearch({ worker: '' }) }]),
  ];
  if (items.length === 0) {
    return filters.length > 0 ? (
      <NoMatch
        what="functions"
        total={(signal) => call('GET /functions', { query: { limit: 1, internal }, signal })}
        filters={filters}
      />
    ) : (
      <FirstRun />
    );
  }
  return (
    <Table
      name="functions"
      label="Functions"
      columns={LINE_COLUMNS}
      {...grouped}
      sort={{ by: search.sort, order: search.order, onSort: (by, order) => setSearch({ sort: sortWord(by), order }) }}
      openKey={search.id}
      total={list.total}
      onNearEnd={list.more}
    />
  );
}

const LINE_COLUMNS = ofLines<FunctionRow, string>(COLUMNS);
const NO_FUNCTIONS: readonly FunctionRow[] = [];

const keyOf = ({ function_id }: FunctionRow): string => function_id;
const nameOf = (namespace: string): string => (namespace === '' ? 'without a namespace' : visibleText(namespace));

/** The first segment of an id. An id without segments has no group. */
function namespaceOf({ function_id: id }: FunctionRow): string {
  const cut = id.indexOf('::');
  return cut < 0 ? '' : id.slice(0, cut);
}

function sortWord(by: string): 'id' | 'worker' | 'triggers' | 'calls' | 'errors' | 'p95' {
  return FUNCTIONS_SEARCH.sort.read([by]) ?? 'id';
}
