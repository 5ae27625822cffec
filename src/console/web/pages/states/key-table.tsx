// The keys of a scope as a list, or as a tree by a separator (STA-1, STA-2), with actions on several keys: two entries
// can be compared side by side (STA-6).

import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronRight, GitCompare, Trash2 } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { useReadOnly } from '../../data/connection.ts';
import { usePageSearch } from '../../data/search.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatCount } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading, NoSearchMatch } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { JsonDiff } from '../../kit/json/json-editor.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Sheet } from '../../kit/layout/overlays.tsx';
import type { Column } from '../../kit/table/column.ts';
import { flip } from '../../kit/table/selection.ts';
import { Table } from '../../kit/table/table.tsx';
import { type EntryRow, readEntry, useEntries } from './entries.ts';
import { DeleteDialog } from './entry-dialogs.tsx';
import { type KeyLine, keyTree } from './logic/key-tree.ts';
import { STATES_SEARCH } from './search.ts';

type Line = KeyLine<EntryRow>;

export function KeyTable({ scope }: { readonly scope: string }): ReactNode {
  const { search, setSearch } = usePageSearch(STATES_SEARCH);
  const list = useEntries(scope, search);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<{ what: 'delete' | 'compare'; keys: readonly string[] }>();
  const isReadOnly = useReadOnly();
  const { items } = list;
  const lines = useMemo<readonly Line[]>(() => {
    if (search.view !== 'list') return keyTree(items ?? [], search.view, opened);
    return (items ?? []).map((row) => ({ kind: 'key', row, name: row.key, depth: 0 }));
  }, [items, search.view, opened]);
  if (items === undefined) {
    if (list.error === null) return <Loading what="the keys" />;
    return <FailedState error={list.error} what="States" shows="the keys of this scope" retry={list.refetch} />;
  }
  if (items.length === 0 && list.more === undefined) {
    if (search.q === '') return <EmptyScope scope={scope} />;
    return <NoSearchMatch what="keys" total={null} q={search.q} clear={() => setSearch({ q: '' })} />;
  }
  const toggle = (path: string): void => setOpened(flip(opened, path));
  return (
    <>
      <Table<Line>
        name="state-items"
        label="Keys"
        columns={COLUMNS}
        rows={lines}
        keyOf={keyOfLine}
        fullRow={(line) => (line.kind === 'folder' ? <Folder line={line} toggle={toggle} /> : undefined)}
        openKey={search.key}
        onOpen={(line) =>
          line.kind === 'folder' ? toggle(line.path) : setSearch({ key: line.row.key, tab: 'value' }, { push: true })
        }
        selectable
        selectionActions={(_selection, chosen) => {
          const keys = chosen.flatMap((line) => (line.kind === 'key' ? [line.row.key] : []));
          return (
            <>
              {keys.length === 2 && (
                <Button icon={<GitCompare size={13} />} onClick={() => setAsked({ what: 'compare', keys })}>
                  Compare
                </Button>
              )}
              {!isReadOnly && keys.length > 0 && (
                <Button icon={<Trash2 size={13} />} onClick={() => setAsked({ what: 'delete', keys })}>
                  Delete {formatCount(keys.length)}
                </Button>
              )}
            </>
          );
        }}
        onNearEnd={list.more}
        rowClass={flashOf}
        foot={list.more === undefined ? undefined : <span>more are read while you scroll</span>}
      />
      {asked?.what === 'delete' && <DeleteDialog scope={scope} keys={asked.keys} onClose={() => setAsked(undefined)} />}
      {asked?.what === 'compare' && (
        <CompareDialog scope={scope} keys={asked.keys} onClose={() => setAsked(undefined)} />
      )}
    </>
  );
}

function EmptyScope({ scope }: { readonly scope: string }): ReactNode {
  return (
    <EmptyState title="Nothing in this scope">
      <p>
        <code className="break-all text-text">{visibleText(scope)}</code> has no keys. A scope exists while it holds
        one.
      </p>
    </EmptyState>
  );
}

/** Two names of one animation, so that it starts again with every change. */
function flashOf(line: Line): string | undefined {
  if (line.kind === 'folder' || line.row.changes === 0) return undefined;
  return line.row.changes % 2 === 0 ? 'flash-even' : 'flash';
}

function keyOfLine(line: Line): string {
  return line.kind === 'folder' ? `folder ${line.path}` : line.row.key;
}

function Folder({
  line,
  toggle,
}: {
  readonly line: Extract<Line, { kind: 'folder' }>;
  readonly toggle: (path: string) => void;
}): ReactNode {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-expanded={line.open}
      onClick={() => toggle(line.path)}
      className="flex h-full w-full items-center gap-1.5 px-2 text-left font-mono text-sm hover:text-accent"
      style={{ paddingLeft: line.depth * 16 + 8 }}
    >
      {line.open ? <ChevronDown size={14} /> : <ChevronRight size={14} />}
      {line.name === '' ? '(empty)' : visibleText(line.name)}
      <span className="text-xs text-muted">{formatCount(line.count)}</span>
    </button>
  );
}

type KeyColumn = Omit<Column<Line>, 'cell' | 'text'> & {
  readonly show: (row: EntryRow, line: Extract<Line, { kind: 'key' }>) => ReactNode;
  readonly raw: (row: EntryRow) => string | number | null;
};

function column({ show, raw, ...rest }: KeyColumn): Column<Line> {
  return {
    ...rest,
    cell: (line) => (line.kind === 'key' ? show(line.row, line) : undefined),
    text: (line) => (line.kind === 'key' ? raw(line.row) : null),
  };
}

const COLUMNS: readonly Column<Line>[] = [
  column({
    id: 'key',
    header: 'Key',
    width: 220,
    grow: 2,
    raw: ({ key }) => key,
    show: ({ key }, { name, depth }) =>
      depth === 0 && name === key ? (
        <CopyId id={key} what="key" className="text-text" />
      ) : (
        <span className="truncate font-mono" style={{ paddingLeft: depth * 16 }} title={visibleText(key)}>
          {name === '' ? '(empty)' : visibleText(name)}
        </span>
      ),
  }),
  column({ id: 'type', header: 'Type', width: 84, raw: ({ type }) => type, show: ({ type }) => <Badge>{type}</Badge> }),
  column({
    id: 'size',
    header: 'Size',
    width: 80,
    align: 'right',
    raw: ({ size }) => size,
    show: ({ size }) => formatBytes(size),
  }),
  column({
    id: 'preview',
    header: 'Value',
    width: 220,
    grow: 3,
    raw: ({ preview }) => preview,
    show: ({ preview, truncated }) => (
      <span className="truncate font-mono text-sm text-muted">
        {visibleText(preview)}
        {truncated && ' …'}
      </span>
    ),
  }),
  column({
    id: 'updated_at',
    header: 'Updated',
    width: 104,
    raw: ({ updated_at: at }) => at,
    show: ({ updated_at: at }) =>
      at === null ? (
        <span className="text-faint" title="Written before the store kept times">
          –
        </span>
      ) : (
        <Time ms={at} />
      ),
  }),
];

interface CompareDialogProps {
  readonly scope: string;
  readonly keys: readonly string[];
  readonly onClose: () => void;
}

function CompareDialog({ scope, keys, onClose }: CompareDialogProps): ReactNode {
  const { data, error } = useQuery({
    queryKey: ['compare', scope, keys],
    queryFn: ({ signal }) => Promise.all(keys.map((key) => readEntry(scope, key, signal))),
  });
  const [before, after] = data ?? [];
  return (
    <Sheet title="Compare" onClose={onClose}>
      <div className="grid grid-cols-2 gap-2 font-mono text-sm text-muted">
        {keys.map((key) => (
          <span key={key} className="truncate" title={visibleText(key)}>
            {visibleText(key)}
          </span>
        ))}
      </div>
      {data === undefined && error === null && <Loading what="both entries" rows={4} />}
      {error !== null && <ErrorCard error={error} what="Reading both entries" />}
      {before !== undefined && after !== undefined && (
        <JsonDiff label="Difference" before={before.text} after={after.text} />
      )}
      {before !== undefined && before.text === after?.text && <p className="text-muted">Both are the same.</p>}
    </Sheet>
  );
}
