// The contents of streams: stream, group, items (STR-3), with the subscribers of a group.

import { Plus, Send } from 'lucide-react';
import { type ReactNode, useCallback, useState } from 'react';
import type { StreamTap } from '../../../api/live.ts';
import type { StreamGroupRow, StreamItemRow, StreamRow } from '../../../api/streams.ts';
import { call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { type ListState, refetchSoon, useList } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { useLive } from '../../data/use-live.ts';
import { formatBytes, formatCount } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading, NoSearchMatch, Snippet } from '../../kit/feedback/empty-state.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { FilterBar } from '../../kit/inputs/filter-bar.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Page } from '../../kit/layout/page.tsx';
import type { Column } from '../../kit/table/column.ts';
import { Table } from '../../kit/table/table.tsx';
import { Crumbs } from './crumbs.tsx';
import { StreamItemPanel } from './item-panel.tsx';
import { STREAM_EXAMPLE, STREAMS_SEARCH } from './search.ts';
import { AddStreamItem, SendEvent } from './stream-dialogs.tsx';
import { Subscribers } from './subscribers.tsx';

export function Browse({ tabs }: { readonly tabs: ReactNode }): ReactNode {
  const { search, setSearch } = usePageSearch(STREAMS_SEARCH);
  const { stream, group, item } = search;
  const [dialog, setDialog] = useState<'add' | 'send'>();
  const isReadOnly = useReadOnly();
  const setQ = useCallback((q: string) => setSearch({ q }), [setSearch]);
  return (
    <Page
      title="Streams"
      note={<Crumbs />}
      actions={
        <>
          {!isReadOnly && (
            <>
              <Button icon={<Send size={13} />} onClick={() => setDialog('send')}>
                Send event
              </Button>
              <Button icon={<Plus size={14} />} onClick={() => setDialog('add')}>
                Add item
              </Button>
            </>
          )}
          {tabs}
        </>
      }
      toolbar={
        stream === undefined ? (
          <FilterBar label="Search streams" value={search.q} onChange={setQ}>
            <Toggle label="System" checked={search.system} onChange={(system) => setSearch({ system })} />
          </FilterBar>
        ) : undefined
      }
      detail={
        stream === undefined || group === undefined || item === undefined ? undefined : (
          <StreamItemPanel
            key={`${stream}\n${group}\n${item}`}
            {...{ stream, group, item }}
            onClose={() => setSearch({ item: undefined }, { push: true })}
          />
        )
      }
    >
      {stream === undefined ? (
        <StreamList />
      ) : group === undefined ? (
        <GroupList stream={stream} />
      ) : (
        <ItemList stream={stream} group={group} />
      )}
      {dialog === 'add' && (
        <AddStreamItem stream={stream ?? ''} group={group ?? ''} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'send' && (
        <SendEvent stream={stream ?? ''} group={group ?? ''} onClose={() => setDialog(undefined)} />
      )}
    </Page>
  );
}

function StreamList(): ReactNode {
  const { search, setSearch } = usePageSearch(STREAMS_SEARCH);
  const { q, system } = search;
  const list = useList(['streams', q, system], (page, signal) =>
    call('GET /streams', { query: { ...page, q, system }, signal }),
  );
  useLive('streams', { items: () => refetchSoon(['streams']) }, { filter: { system } });
  if (list.items?.length === 0) {
    if (q === '') {
      return (
        <EmptyState title="No stream yet">
          <p>A stream exists while it has an item, a kept event or a subscriber. Add an item above, or write one:</p>
          <Snippet text={STREAM_EXAMPLE} label="command" />
        </EmptyState>
      );
    }
    return (
      <NoSearchMatch
        what="streams"
        total={(signal) => call('GET /streams', { query: { limit: 1 }, signal })}
        q={q}
        clear={() => setSearch({ q: '' })}
      />
    );
  }
  return (
    <Listed list={list} what="Streams">
      {(rows) => (
        <Table<StreamRow>
          name="streams"
          label="Streams"
          columns={STREAM_COLUMNS}
          rows={rows}
          keyOf={streamKey}
          onOpen={({ name }) => setSearch({ stream: name, group: undefined, item: undefined }, { push: true })}
          total={list.total}
          onNearEnd={list.more}
        />
      )}
    </Listed>
  );
}

function GroupList({ stream }: { readonly stream: string }): ReactNode {
  const { setSearch } = usePageSearch(STREAMS_SEARCH);
  const list = useList(['stream-groups', stream], (page, signal) =>
    call('GET /streams/{stream}/groups', { parts: { stream }, query: page, signal }),
  );
  useLive(`stream:${encodeURIComponent(stream)}`, { items: () => refetchSoon(['stream-groups', stream]) });
  if (list.items?.length === 0) return <EmptyState title="No group">This stream holds no item.</EmptyState>;
  return (
    <Listed list={list} what="Groups">
      {(rows) => (
        <Table<StreamGroupRow>
          name="stream-groups"
          label="Groups"
          columns={GROUP_COLUMNS}
          rows={rows}
          keyOf={groupKey}
          onOpen={({ group }) => setSearch({ group, item: undefined }, { push: true })}
          onNearEnd={list.more}
        />
      )}
    </Listed>
  );
}

function ItemList({ stream, group }: { readonly stream: string; readonly group: string }): ReactNode {
  const { search, setSearch } = usePageSearch(STREAMS_SEARCH);
  const key = ['stream-items', stream, group];
  const list = useList(key, (page, signal) =>
    call('GET /streams/{stream}/{group}/items', { parts: { stream, group }, query: page, signal }),
  );
  useLive(`stream:${encodeURIComponent(stream)}/${encodeURIComponent(group)}`, {
    items: (items) => {
      refetchSoon(key);
      for (const { item } of items as readonly StreamTap[]) {
        if (item !== null && item === search.item) refetchSoon(['stream-item', stream, group, item]);
      }
    },
    back: () => refetchSoon(key),
  });
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="min-h-0 flex-1">
        {list.items?.length === 0 ? (
          <EmptyState title="No items">This group holds no items. Its subscribers receive the first one.</EmptyState>
        ) : (
          <Listed list={list} what="Items">
            {(rows) => (
              <Table<StreamItemRow>
                name="stream-items"
                label="Items"
                columns={ITEM_COLUMNS}
                rows={rows}
                keyOf={itemKey}
                openKey={search.item}
                onOpen={({ id }) => setSearch({ item: id }, { push: true })}
                onNearEnd={list.more}
              />
            )}
          </Listed>
        )}
      </div>
      <Subscribers stream={stream} group={group} />
    </div>
  );
}

function Listed<T>({
  list,
  what,
  children,
}: {
  readonly list: ListState<T>;
  readonly what: string;
  readonly children: (rows: readonly T[]) => ReactNode;
}): ReactNode {
  if (list.items !== undefined) return children(list.items);
  if (list.error === null) return <Loading what={`the ${what.toLowerCase()}`} />;
  return <FailedState error={list.error} what={what} shows={what.toLowerCase()} retry={list.refetch} />;
}

const streamKey = ({ name }: StreamRow): string => name;
const groupKey = ({ group }: StreamGroupRow): string => group;
const itemKey = ({ id }: StreamItemRow): string => id;

function count<Row>(id: string, header: string, read: (row: Row) => number): Column<Row> {
  return { id, header, width: 96, align: 'right', text: read, cell: (row) => formatCount(read(row)) };
}

function groupNames({ groups, first_groups: named }: StreamRow): string {
  const others = groups - named.length;
  const more = others > 0 ? [`${formatCount(others)} more`] : [];
  return [...named.map(visibleText), ...more].join(', ');
}

const STREAM_COLUMNS: readonly Column<StreamRow>[] = [
  {
    id: 'name',
    header: 'Name',
    width: 220,
    grow: 2,
    text: ({ name }) => name,
    cell: ({ name }) => <CopyId id={name} what="stream name" className="text-text" />,
  },
  {
    id: 'groups',
    header: 'Group',
    width: 180,
    grow: 2,
    text: groupNames,
    cell: (row) => <span className="truncate font-mono text-sm text-muted">{groupNames(row)}</span>,
  },
  {
    id: 'type',
    header: 'Type',
    width: 140,
    text: ({ type }) => type,
    cell: ({ type }) => <Badge>{type === 'user' ? 'user-defined' : 'system-internal'}</Badge>,
  },
  count('subscribers', 'Subscribers', ({ subscribers }) => subscribers),
];

const GROUP_COLUMNS: readonly Column<StreamGroupRow>[] = [
  {
    id: 'group',
    header: 'Group',
    width: 220,
    grow: 1,
    text: ({ group }) => group,
    cell: ({ group }) => <CopyId id={group} what="group" className="text-text" />,
  },
  count('subscribers', 'Subscribers', ({ subscribers }) => subscribers),
];

const ITEM_COLUMNS: readonly Column<StreamItemRow>[] = [
  {
    id: 'id',
    header: 'Item',
    width: 200,
    grow: 1,
    text: ({ id }) => id,
    cell: ({ id }) => <CopyId id={id} what="item id" className="text-text" />,
  },
  { id: 'type', header: 'Type', width: 84, text: ({ type }) => type, cell: ({ type }) => <Badge>{type}</Badge> },
  {
    id: 'size',
    header: 'Size',
    width: 80,
    align: 'right',
    text: ({ size }) => size,
    cell: ({ size }) => formatBytes(size),
  },
  {
    id: 'preview',
    header: 'Data',
    width: 240,
    grow: 3,
    text: ({ preview }) => preview,
    cell: ({ preview, truncated }) => (
      <span className="truncate font-mono text-sm text-muted">
        {visibleText(preview)}
        {truncated && ' …'}
      </span>
    ),
  },
];
