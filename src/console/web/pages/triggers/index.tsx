// The Triggers page: which event calls which function, by kind, and a way to test each trigger (TRG-1 to TRG-7).

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useMemo } from 'react';
import type { TriggerRow, TriggerTypeRow } from '../../../api/registry.ts';
import { call } from '../../data/api.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { type ListState, refetchSoon, useList, useWholeList } from '../../data/queries.ts';
import { param, usePageSearch } from '../../data/search.ts';
import { useStore } from '../../data/store.ts';
import { useLive } from '../../data/use-live.ts';
import { formatCount } from '../../kit/charts/times.ts';
import {
  type ActiveFilter,
  EmptyState,
  FailedState,
  Loading,
  NoMatch,
  Snippet,
} from '../../kit/feedback/empty-state.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { FilterBar, Pill } from '../../kit/inputs/filter-bar.tsx';
import { Page } from '../../kit/layout/page.tsx';
import { Tabs } from '../../kit/layout/tabs.tsx';
import { ofLines, useGroupedRows } from '../../kit/table/grouped-rows.tsx';
import { Table } from '../../kit/table/table.tsx';
import { columnsWith } from './columns.tsx';
import { TriggerDetailPanel } from './detail.tsx';
import { type RouteNote, routeNotes } from './logic/http-routes.ts';
import {
  KIND_NAMES,
  KINDS,
  type Kind,
  type KindSummary,
  kindOf,
  kindSummaries,
  typesOf,
} from './logic/trigger-kinds.ts';

const TRIGGERS_SEARCH = {
  q: param.text(),
  kind: param.choice(KINDS),
  status: param.choice(['any', 'Active', 'Inactive', 'Error']),
  fn: param.text(),
  sort: param.choice(['type', 'id', 'function', 'status']),
  order: param.choice(['asc', 'desc']),
  id: param.optional(),
};

function binding(type: string, functionId: string, config: string): string {
  return `svc.registerTrigger({
  type: '${type}',
  function_id: '${functionId}',
  config: { ${config} },
})`;
}

const HTTP = binding('http', 'orders::create', "api_path: '/orders', http_method: 'POST'");

const BIND_SNIPPETS: Readonly<Record<Kind, string>> = {
  all: HTTP,
  http: HTTP,
  cron: binding('cron', 'stock::nightly', "expression: '0 0 3 * * *', timezone: 'Europe/Berlin'"),
  queue: binding('durable:subscriber', 'mail::send', "topic: 'mail'"),
  event: binding('event', 'users::welcome', "topic: 'user.created'"),
  state: binding('state', 'orders::changed', "scope: 'orders'"),
  stream: binding('stream', 'chat::moderate', "stream_name: 'chat'"),
  log: binding('log', 'ops::page', "level: 'error'"),
  other: HTTP,
};

const NO_TYPES: readonly TriggerTypeRow[] = [];

export default function Triggers(): ReactNode {
  const { search, setSearch } = usePageSearch(TRIGGERS_SEARCH);
  const { internal } = useStore(preferences);
  const { q, kind, status, fn, sort, order, id } = search;
  const types = useQuery({
    queryKey: ['triggers', 'types'],
    queryFn: ({ signal }) => call('GET /trigger-types', { signal }),
  });
  const known = types.data?.types ?? NO_TYPES;
  const type = typesOf(kind, known);
  const list = useList(['triggers', q, type, status, fn, sort, order, internal], (page, signal) =>
    call('GET /triggers', {
      query: { ...page, q, type, function_id: fn, sort, order, internal, ...(status !== 'any' && { status }) },
      signal,
    }),
  );
  useLive('registry', { items: () => refetchSoon(['triggers']), back: () => refetchSoon(['triggers']) });
  const setQ = useCallback((text: string) => setSearch({ q: text }), [setSearch]);
  const facts = kindSummaries(types.data?.types);
  const chosen = facts.find((one) => one.kind === kind);
  const notes = useMemo(() => routeNotes(list.items ?? []), [list.items]);
  return (
    <Page
      title="Triggers"
      note={list.total === null ? undefined : formatCount(list.total)}
      toolbar={
        <FilterBar label="Search triggers" value={q} onChange={setQ}>
          {(['Active', 'Inactive', 'Error'] as const).map((word) => (
            <Pill
              key={word}
              label={word}
              on={status === word}
              onToggle={() => setSearch({ status: status === word ? 'any' : word })}
            />
          ))}
          {fn !== '' && <Pill label={`Function ${fn}`} on onToggle={() => setSearch({ fn: '' })} />}
          <Toggle label="Internal" checked={internal} onChange={(on) => setPreference('internal', on)} />
        </FilterBar>
      }
      detail={
        id === undefined ? undefined : (
          <TriggerDetailPanel
            key={id}
            id={id}
            note={notes.get(id)}
            onClose={() => setSearch({ id: undefined }, { push: true })}
          />
        )
      }
    >
      <div className="flex h-full min-h-0 flex-col">
        <Tabs label="Kinds of triggers" tabs={tabsOf(facts)} value={kind} onChange={(to) => setSearch({ kind: to })}>
          {chosen?.missing === undefined ? <TriggerList list={list} notes={notes} /> : <MissingKind facts={chosen} />}
        </Tabs>
      </div>
    </Page>
  );
}

function tabsOf(facts: readonly KindSummary[]) {
  return facts.map(({ kind, count, missing }) => ({
    id: kind,
    label: KIND_NAMES[kind],
    ...(missing === undefined ? { count } : { missing }),
  }));
}

function MissingKind({ facts }: { readonly facts: KindSummary }): ReactNode {
  const module = /svc-[\w-]+/.exec(facts.missing ?? '')?.[0];
  return (
    <EmptyState title={`${KIND_NAMES[facts.kind]} triggers are not available`}>
      <p>{facts.missing}.</p>
      {module !== undefined && (
        <>
          <Snippet label="configuration" text={`workers:\n  - name: ${module}`} />
          <p>or run</p>
          <Snippet label="command" text={`svc worker add ${module}`} />
        </>
      )}
    </EmptyState>
  );
}

interface TriggerListProps {
  readonly list: ListState<TriggerRow>;
  readonly notes: ReadonlyMap<string, RouteNote>;
}

function TriggerList({ list, notes }: TriggerListProps): ReactNode {
  const { search, setSearch } = usePageSearch(TRIGGERS_SEARCH);
  const { items, error } = list;
  const { internal } = useStore(preferences);
  useWholeList(list, search.kind === 'all');
  const isOneType = ONE_TYPE.has(search.kind);
  const columns = useMemo(() => ofLines<TriggerRow, Kind>(columnsWith(notes, isOneType)), [notes, isOneType]);
  const grouped = useGroupedRows({
    rows: items ?? NO_TRIGGERS,
    keyOf,
    groupOf: search.kind === 'all' ? kindOfRow : undefined,
    nameOf,
    order: KINDS,
    onOpen: ({ id }) => setSearch({ id }, { push: true }),
    isPart: list.more !== undefined,
  });
  if (items === undefined) {
    if (error === null) return <Loading what="the triggers" />;
    return <FailedState error={error} what="Triggers" shows="every trigger" retry={list.refetch} />;
  }
  const filters: ActiveFilter[] = [
    ...(search.q === '' ? [] : [{ label: `search: ${search.q}`, remove: () => setSearch({ q: '' }) }]),
    ...(search.status === 'any'
      ? []
      : [{ label: `status: ${search.status}`, remove: () => setSearch({ status: 'any' }) }]),
    ...(search.fn === '' ? [] : [{ label: `function: ${search.fn}`, remove: () => setSearch({ fn: '' }) }]),
  ];
  if (items.length === 0) {
    return filters.length > 0 ? (
      <NoMatch
        what="triggers"
        total={(signal) => call('GET /triggers', { query: { limit: 1, internal }, signal })}
        filters={filters}
      />
    ) : (
      <NoTriggers kind={search.kind} />
    );
  }
  return (
    <Table
      name="triggers"
      label="Triggers"
      columns={columns}
      {...grouped}
      sort={{ by: search.sort, order: search.order, onSort: (by, order) => setSearch({ sort: sortWord(by), order }) }}
      openKey={search.id}
      total={list.total}
      onNearEnd={list.more}
    />
  );
}

const NO_TRIGGERS: readonly TriggerRow[] = [];

const keyOf = ({ id }: TriggerRow): string => id;
const kindOfRow = ({ trigger_type }: TriggerRow): Kind => kindOf(trigger_type);
const nameOf = (kind: Kind): string => KIND_NAMES[kind];

const ONE_TYPE: ReadonlySet<Kind> = new Set(['http', 'cron', 'state', 'log']);

function NoTriggers({ kind }: { readonly kind: Kind }): ReactNode {
  const word = kind === 'all' || kind === 'other' ? '' : `${KIND_NAMES[kind]} `;
  return (
    <EmptyState title={`No ${word}triggers yet`}>
      <p>A trigger calls a function when something happens. Bind one in a worker:</p>
      <Snippet label="code" text={BIND_SNIPPETS[kind]} />
    </EmptyState>
  );
}

function sortWord(by: string): 'type' | 'id' | 'function' | 'status' {
  return by === 'id' || by === 'function' || by === 'status' ? by : 'type';
}
