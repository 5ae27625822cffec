// The Functions page: every function of the engine, and the detail of one.

import { type ReactNode, useCallback } from 'react';
import type { FunctionRow } from '../../../../console-api/registry.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { refetchSoon } from '../../data/queries.ts';
import { call } from '../../data/routes.ts';
import { usePageSearch } from '../../data/search.ts';
import { useStore } from '../../data/store.ts';
import { type ListState, useList, useWholeList } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { type ActiveFilter, FailedState, Loading, NoMatch } from '../../kit/feedback/empty-state.tsx';
import { FirstRun } from '../../kit/feedback/first-run.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { FilterBar, Pill } from '../../kit/inputs/filter-bar.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Page } from '../../kit/layout/page.tsx';
import { ofLines, useGroupedRows } from '../../kit/table/grouped-rows.tsx';
import { Table } from '../../kit/table/table.tsx';
import { COLUMNS } from './columns.tsx';
import { FunctionDetailPanel } from './detail.tsx';
import { FUNCTIONS_SEARCH } from './search.ts';

export default function Functions(): ReactNode {
  const { search, setSearch } = usePageSearch(FUNCTIONS_SEARCH);
  const { internal } = useStore(preferences);
  const { q, ns, worker, sort, order, id } = search;
  const list = useList(['functions', q, ns, worker, sort, order, internal], (page, signal) =>
    call('GET /functions', { query: { ...page, q, ns, worker, sort, order, internal }, signal }),
  );
  useLive('registry', { items: () => refetchSoon(['functions']), back: () => refetchSoon(['functions']) });
  const setQ = useCallback((text: string) => setSearch({ q: text }), [setSearch]);
  return (
    <Page
      title="Functions"
      note={list.total === null ? undefined : formatCount(list.total)}
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
      <FunctionList list={list} />
    </Page>
  );
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
