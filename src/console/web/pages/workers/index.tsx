// The Workers page: every process that is connected or recently was, and the detail of one (WRK-1).

import { type ReactNode, useCallback } from 'react';
import type { WorkerRow } from '../../../api/registry.ts';
import { call } from '../../data/api.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { type ListState, refetchSoon, useList } from '../../data/queries.ts';
import { param, usePageSearch } from '../../data/search.ts';
import { useStore } from '../../data/store.ts';
import { useLive } from '../../data/use-live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatCount, formatDuration } from '../../kit/charts/times.ts';
import { FailedState, FirstRun, Loading, NoSearchMatch } from '../../kit/feedback/empty-state.tsx';
import { Badge, WordStatus } from '../../kit/feedback/status.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { FilterBar } from '../../kit/inputs/filter-bar.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Page } from '../../kit/layout/page.tsx';
import type { Column } from '../../kit/table/column.ts';
import { Table } from '../../kit/table/table.tsx';
import { WorkerPanel } from './detail.tsx';
import { Engines } from './engines.tsx';

const SEARCH = {
  q: param.text(),
  sort: param.choice(['name', 'status', 'connected_at', 'in_flight', 'functions']),
  order: param.choice(['asc', 'desc']),
  id: param.optional(),
};

export default function Workers(): ReactNode {
  const { search, setSearch } = usePageSearch(SEARCH);
  const { internal } = useStore(preferences);
  const { q, sort, order, id } = search;
  const list = useList(['workers', q, sort, order, internal], (page, signal) =>
    call('GET /workers', { query: { ...page, q, sort, order, internal }, signal }),
  );
  useLive('registry', { items: () => refetchSoon(['workers']), back: () => refetchSoon(['workers']) });
  const setQ = useCallback((text: string) => setSearch({ q: text }), [setSearch]);
  return (
    <Page
      title="Workers"
      note={list.total === null ? undefined : formatCount(list.total)}
      toolbar={
        <FilterBar label="Search workers" value={q} onChange={setQ}>
          <Toggle label="Modules" checked={internal} onChange={(on) => setPreference('internal', on)} />
        </FilterBar>
      }
      detail={
        id === undefined ? undefined : (
          <WorkerPanel key={id} id={id} onClose={() => setSearch({ id: undefined }, { push: true })} />
        )
      }
    >
      <div className="flex h-full min-h-0 flex-col">
        <Engines />
        <div className="min-h-0 flex-1">
          <WorkerList list={list} />
        </div>
      </div>
    </Page>
  );
}

function WorkerList({ list }: { readonly list: ListState<WorkerRow> }): ReactNode {
  const { search, setSearch } = usePageSearch(SEARCH);
  if (list.items === undefined) {
    if (list.error === null) return <Loading what="the workers" />;
    return <FailedState error={list.error} what="Workers" shows="every worker" retry={list.refetch} />;
  }
  if (list.items.length === 0) {
    if (search.q === '') return <FirstRun />;
    return (
      <NoSearchMatch
        what="workers"
        total={(signal) => call('GET /workers', { query: { limit: 1 }, signal })}
        q={search.q}
        clear={() => setSearch({ q: '' })}
      />
    );
  }
  return (
    <Table
      name="workers"
      label="Workers"
      columns={COLUMNS}
      rows={list.items}
      keyOf={keyOf}
      sort={{
        by: search.sort,
        order: search.order,
        onSort: (by, order) => setSearch({ sort: SEARCH.sort.read([by]) ?? 'name', order }),
      }}
      openKey={search.id}
      onOpen={({ id }) => setSearch({ id }, { push: true })}
      total={list.total}
      onNearEnd={list.more}
      rowClass={({ status }) => (status === 'disconnected' ? 'text-muted' : undefined)}
    />
  );
}

const keyOf = ({ id }: WorkerRow): string => id;

const NONE = <span className="text-faint">–</span>;

function shown<T>(value: T | null, write: (value: T) => ReactNode): ReactNode {
  return value === null ? NONE : <span className="truncate">{write(value)}</span>;
}

type WorkerColumn = Column<WorkerRow>;

function figure(
  id: string,
  header: string,
  width: number,
  rest: Pick<WorkerColumn, 'cell' | 'text' | 'sort'>,
): WorkerColumn {
  return { id, header, width, align: 'right', ...rest };
}

/** The columns that show the state of a worker come first: a phone has room for little else. */
const COLUMNS: readonly WorkerColumn[] = [
  {
    id: 'name',
    header: 'Name',
    width: 150,
    grow: 2,
    sort: 'name',
    cell: ({ name, internal, engine }) => (
      <>
        <span className="truncate font-medium">{visibleText(name)}</span>
        {internal && <Badge>module</Badge>}
        {engine !== undefined && <Badge>{engine.slice(0, 6)}</Badge>}
      </>
    ),
    text: ({ name }) => name,
  },
  {
    id: 'status',
    header: 'State',
    width: 116,
    sort: 'status',
    cell: ({ status }) => <WordStatus word={status} />,
    text: ({ status }) => status,
  },
  figure('functions', 'Functions', 84, {
    sort: 'functions',
    cell: ({ functions }) => formatCount(functions.length),
    text: ({ functions }) => functions.length,
  }),
  figure('in_flight', 'In flight', 78, {
    sort: 'in_flight',
    cell: ({ in_flight }) => formatCount(in_flight),
    text: ({ in_flight }) => in_flight,
  }),
  figure('cpu', 'CPU', 68, {
    cell: ({ metrics }) => shown(metrics.cpu_percent, (share) => `${share.toFixed(1)} %`),
    text: ({ metrics }) => metrics.cpu_percent,
  }),
  figure('memory', 'Memory', 84, {
    cell: ({ metrics }) => shown(metrics.memory_bytes, formatBytes),
    text: ({ metrics }) => metrics.memory_bytes,
  }),
  figure('delay', 'Loop delay', 88, {
    cell: ({ metrics }) => shown(metrics.event_loop_delay_ms, formatDuration),
    text: ({ metrics }) => metrics.event_loop_delay_ms,
  }),
  figure('reconnects', 'Reconnects', 92, {
    cell: ({ reconnects }) => (
      <span className={reconnects > 0 ? 'text-warn' : undefined}>{formatCount(reconnects)}</span>
    ),
    text: ({ reconnects }) => reconnects,
  }),
  {
    id: 'connected_at',
    header: 'Connected',
    width: 100,
    sort: 'connected_at',
    cell: ({ connected_at }) => <Time ms={connected_at} />,
    text: ({ connected_at }) => connected_at,
  },
  {
    id: 'runtime',
    header: 'Language, SDK',
    width: 118,
    cell: ({ runtime, version }) =>
      shown(runtime, (word) =>
        [word, version]
          .filter(Boolean)
          .map((part) => visibleText(part ?? ''))
          .join(' · '),
      ),
    text: ({ runtime, version }) => [runtime, version].filter(Boolean).join(' '),
  },
  {
    id: 'address',
    header: 'Address',
    width: 112,
    cell: ({ address }) => shown(address, (text) => <span className="font-mono text-muted">{text}</span>),
    text: ({ address }) => address,
  },
  {
    id: 'id',
    header: 'Worker ID',
    width: 176,
    cell: ({ id }) => <CopyId id={id} what="worker id" className="text-muted" />,
    text: ({ id }) => id,
  },
];
