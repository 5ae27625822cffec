// The Functions page: every function of the engine, and the detail of one.

import { ChevronDown, ChevronRight } from 'lucide-react';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import type { FunctionRow } from '../../../../console-api/functions.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { refetchSoon } from '../../data/queries.ts';
import { call } from '../../data/routes.ts';
import { usePageSearch } from '../../data/search.ts';
import { useStore } from '../../data/store.ts';
import { type ListState, useList, useWholeList } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { type ActiveFilter, FailedState, Loading, NoMatch } from '../../kit/empty-state.tsx';
import { Toggle } from '../../kit/field.tsx';
import { FilterBar, Pill } from '../../kit/filter-bar.tsx';
import { FirstRun } from '../../kit/first-run.tsx';
import { Page } from '../../kit/page.tsx';
import { Table } from '../../kit/table/table.tsx';
import { groupCount } from '../../kit/table/table-foot.tsx';
import { formatCount } from '../../logic/times.ts';
import { visibleText } from '../../logic/visible-text.ts';
import { COLUMNS } from './columns.tsx';
import { FunctionDetailPanel } from './detail.tsx';
import { groupedLines, keyOfLine, plainLines, type TableLine } from './rows.ts';
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
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const { items, error } = list;
  const { internal } = useStore(preferences);
  useWholeList(list, search.group);
  const lines = useMemo(
    () => (search.group ? groupedLines(items ?? [], closed) : plainLines(items ?? [])),
    [items, closed, search.group],
  );
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
  const toggle = (name: string): void => {
    const next = new Set(closed);
    if (!next.delete(name)) next.add(name);
    setClosed(next);
  };
  return (
    <Table
      name="functions"
      label="Functions"
      columns={COLUMNS}
      rows={lines}
      keyOf={keyOfLine}
      fullRow={(line) =>
        line.kind === 'group' ? <GroupHead {...{ line, toggle }} isPart={list.more !== undefined} /> : undefined
      }
      sort={{ by: search.sort, order: search.order, onSort: (by, order) => setSearch({ sort: sortWord(by), order }) }}
      openKey={search.id}
      onOpen={(line) =>
        line.kind === 'group' ? toggle(line.name) : setSearch({ id: line.row.function_id }, { push: true })
      }
      count={lines.filter(({ kind }) => kind !== 'group').length}
      total={list.total}
      onNearEnd={list.more}
    />
  );
}

function GroupHead({
  line,
  toggle,
  isPart,
}: {
  readonly line: Extract<TableLine, { kind: 'group' }>;
  readonly toggle: (name: string) => void;
  readonly isPart: boolean;
}): ReactNode {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-expanded={line.open}
      onClick={() => toggle(line.name)}
      className="flex h-full w-full items-center gap-1.5 px-2 text-left text-sm font-medium text-muted hover:text-text"
    >
      {line.open ? <ChevronDown size={14} /> : <ChevronRight size={14} />}
      {line.name === '' ? 'without a namespace' : visibleText(line.name)}
      <span className="text-xs font-normal text-faint">{groupCount(line.count, isPart)}</span>
    </button>
  );
}

function sortWord(by: string): 'id' | 'worker' | 'triggers' | 'calls' | 'errors' | 'p95' {
  return FUNCTIONS_SEARCH.sort.read([by]) ?? 'id';
}
