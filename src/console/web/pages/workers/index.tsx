// The Workers page: every process that is connected or recently was, and the detail of one (WRK-1).

import { type ReactNode, useCallback } from 'react';
import type { WorkerRow } from '../../../../console-api/registry.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { refetchSoon } from '../../data/queries.ts';
import { call } from '../../data/routes.ts';
import { usePageSearch } from '../../data/search.ts';
import { param } from '../../data/search-params.ts';
import { useStore } from '../../data/store.ts';
import { type ListState, useList } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { FailedState, Loading, NoSearchMatch } from '../../kit/feedback/empty-state.tsx';
import { FirstRun } from '../../kit/feedback/first-run.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { FilterBar } from '../../kit/inputs/filter-bar.tsx';
import { Page } from '../../kit/layout/page.tsx';
import { Table } from '../../kit/table/table.tsx';
import { COLUMNS } from './columns.tsx';
import { WorkerPanel } from './detail.tsx';

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
      <WorkerList list={list} />
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
