// The detail of an entry: read-only until the user selects Edit, read again whenever it changes, and saved only over
// the version that was read (STA-3 to STA-7). One tab lists its changes since it was opened (STA-4).

import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, Pencil, Trash2 } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { StateChange } from '../../../api/live.ts';
import { useKeys } from '../../app/keys.ts';
import { isNotFound } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { usePageSearch } from '../../data/search.ts';
import { useLive } from '../../data/use-live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes } from '../../kit/charts/times.ts';
import { EmptyState, Loading } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button, IconButton } from '../../kit/inputs/button.tsx';
import { CopyAs, CopyId } from '../../kit/inputs/copy.tsx';
import { JsonDiff } from '../../kit/json/json-editor.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import { type Tab, Tabs } from '../../kit/layout/tabs.tsx';
import { printTraceFilters, traceFilter } from '../traces/logic/trace-filters.ts';
import { EditEntry } from './edit-entry.tsx';
import { type StoredEntry, useEntry } from './entries.ts';
import { DeleteDialog } from './entry-dialogs.tsx';
import { FiredFunctions } from './fired-functions.tsx';
import { type ValueChange, withChange } from './logic/entry-changes.ts';
import { type EntryTab, STATES_SEARCH } from './search.ts';
import { UpdateTab } from './update-tab.tsx';

interface EntryPanelProps {
  readonly scope: string;
  readonly itemKey: string;
  readonly onClose: () => void;
}

export function EntryPanel({ scope, itemKey, onClose }: EntryPanelProps): ReactNode {
  const { search, setSearch } = usePageSearch(STATES_SEARCH);
  const live = useLiveEntry(scope, itemKey);
  const { item, error, changes, refetch } = live;
  const isReadOnly = useReadOnly();
  const tabs: Tab<EntryTab>[] = [{ id: 'value', label: 'Value' }];
  if (!isReadOnly) tabs.push({ id: 'update', label: 'Update' });
  tabs.push({ id: 'changes', label: 'Changes', count: changes.length });
  return (
    <DetailPanel
      label={`Entry ${itemKey}`}
      title={
        <span className="flex font-mono">
          <CopyId id={itemKey} what="key" />
        </span>
      }
      onClose={onClose}
    >
      {item === undefined && error === null && <Loading what="the entry" />}
      {item === undefined && error !== null && !isNotFound(error) && (
        <div className="p-3">
          <ErrorCard error={error} what="Reading the entry" retry={refetch} />
        </div>
      )}
      {item === undefined && isNotFound(error) && (
        <EmptyState title="No such entry">
          <p>
            <code className="break-all text-text">{visibleText(itemKey)}</code> is not in this scope. The entry opens
            here when it is written.
          </p>
        </EmptyState>
      )}
      {item !== undefined && (
        <Tabs label="Entry" tabs={tabs} value={search.tab} onChange={(tab) => setSearch({ tab })}>
          {search.tab === 'value' && <ValueTab {...{ scope, itemKey, live }} />}
          {search.tab === 'update' && !isReadOnly && <UpdateTab scope={scope} itemKey={itemKey} onDone={refetch} />}
          {search.tab === 'changes' && <ChangesTab changes={changes} />}
        </Tabs>
      )}
    </DetailPanel>
  );
}

interface ValueTabProps {
  readonly scope: string;
  readonly itemKey: string;
  readonly live: LiveEntryState;
}

function ValueTab({ scope, itemKey, live }: ValueTabProps): ReactNode {
  const { setSearch } = usePageSearch(STATES_SEARCH);
  const { item, isGone, changes, refetch } = live;
  const [isEditing, setEditing] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const isReadOnly = useReadOnly();
  useKeys([{ keys: ['e'], name: 'Edit', run: () => setEditing(true) }], !isReadOnly);
  if (item === undefined) return undefined;
  const last = changes.at(-1);
  return (
    <div className="flex flex-col gap-3 p-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
        <Badge>{item.facts.type}</Badge>
        <span>{formatBytes(item.facts.size)}</span>
        <span>
          version <CopyId id={item.facts.version} what="version" />
        </span>
        {isGone && <Badge tone="bad">deleted</Badge>}
        {last !== undefined && !isGone && (
          <span role="status" className="text-accent">
            changed <Time ms={last.atMs} />
          </span>
        )}
        {last !== undefined && (
          <Button look="ghost" className="h-6" onClick={() => setSearch({ tab: 'changes' })}>
            What changed
          </Button>
        )}
      </div>
      {isEditing ? (
        <EditEntry
          {...{ scope, itemKey, item, isGone }}
          onDone={() => [setEditing(false), refetch()]}
          onCancel={() => setEditing(false)}
        />
      ) : (
        <>
          <div className="flex flex-wrap gap-2">
            {!isReadOnly && (
              <>
                <Button icon={<Pencil size={13} />} onClick={() => setEditing(true)}>
                  Edit
                </Button>
                <Button icon={<Trash2 size={13} />} disabled={isGone} onClick={() => setDeleting(true)}>
                  Delete
                </Button>
              </>
            )}
            <CopyRead scope={scope} itemKey={itemKey} />
          </div>
          <Writers scope={scope} itemKey={itemKey} />
          <JsonTree label="value" text={item.text} depth={3} maxHeight={560} />
          {!isReadOnly && <FiredFunctions scope={scope} itemKey={itemKey} />}
        </>
      )}
      {isDeleting && (
        <DeleteDialog
          scope={scope}
          keys={[itemKey]}
          version={item.facts.version}
          onClose={() => {
            setDeleting(false);
            refetch();
          }}
        />
      )}
    </div>
  );
}

/** The calls of `state::set`, `update` and `delete` name both in their spans. */
function Writers({ scope, itemKey }: Pick<ValueTabProps, 'scope' | 'itemKey'>): ReactNode {
  const f = printTraceFilters([
    traceFilter('attr', scope, { key: 'svc.state.scope' }),
    traceFilter('attr', itemKey, { key: 'svc.state.key' }),
  ]);
  return (
    <p className="text-sm">
      <Link to="/traces" search={{ f }} className="text-accent hover:underline">
        Traces that changed it
      </Link>
    </p>
  );
}

function CopyRead({ scope, itemKey }: Pick<ValueTabProps, 'scope' | 'itemKey'>): ReactNode {
  const payloadText = JSON.stringify({ scope, key: itemKey });
  return <CopyAs call={{ functionId: 'state::get', payloadText, mode: 'wait' }} />;
}

interface LiveEntryState {
  /** As it is, or as it was before it was deleted. */
  readonly item: StoredEntry | undefined;
  readonly isGone: boolean;
  readonly error: unknown;
  /** Oldest first. */
  readonly changes: readonly ValueChange[];
  readonly refetch: () => void;
}

function useLiveEntry(scope: string, key: string): LiveEntryState {
  const client = useQueryClient();
  const query = useEntry(scope, key);
  const { data, error } = query;
  const isGone = isNotFound(error);
  const refetch = (): void => void client.invalidateQueries({ queryKey: ['state', scope, key] });
  const received = useRef({ writes: 0, atMs: 0 });
  useLive(
    `state:${encodeURIComponent(scope)}`,
    {
      items(items) {
        const { writes } = received.current;
        const last = items.at(-1) as StateChange | undefined;
        received.current = { writes: writes + items.length, atMs: last?.at ?? Date.now() };
        refetch();
      },
      back: refetch,
    },
    { filter: { key } },
  );
  const [changes, setChanges] = useState<readonly ValueChange[]>([]);
  const before = useRef<{ readonly text: string | undefined } | undefined>(undefined);
  const text = data === undefined || isGone ? undefined : data.text;
  const isRead = data !== undefined || isGone;
  useEffect(() => {
    if (!isRead) return;
    const { current: known } = before;
    before.current = { text };
    if (known === undefined) return;
    const { writes, atMs } = received.current;
    received.current = { writes: 0, atMs: 0 };
    const change: ValueChange = {
      atMs: atMs === 0 ? Date.now() : atMs,
      before: known.text,
      after: text,
      writes: Math.max(1, writes),
    };
    setChanges((now) => withChange(now, change));
  }, [text, isRead]);
  return { item: data, isGone, error, changes, refetch };
}

function ChangesTab({ changes }: { readonly changes: readonly ValueChange[] }): ReactNode {
  // Undefined follows the newest.
  const [chosen, setChosen] = useState<number>();
  const last = changes.length - 1;
  const at = Math.min(chosen ?? last, last);
  const change = changes[at];
  if (change === undefined) {
    return (
      <EmptyState title="No change yet">
        <p>While this entry is open, each change is listed here with the value before it.</p>
      </EmptyState>
    );
  }
  const go = (to: number): void => setChosen(to >= last ? undefined : Math.max(0, to));
  return (
    <div className="flex flex-col gap-3 p-3">
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <IconButton label="Earlier change" disabled={at === 0} onClick={() => go(at - 1)}>
          <ChevronLeft size={15} />
        </IconButton>
        <span className="tabular-nums">
          {at + 1} of {changes.length}
        </span>
        <IconButton label="Later change" disabled={at === last} onClick={() => go(at + 1)}>
          <ChevronRight size={15} />
        </IconButton>
        <Time ms={change.atMs} className="text-muted" />
        {change.before === undefined && <span className="text-good">created</span>}
        {change.after === undefined && <span className="text-bad">deleted</span>}
        {change.writes > 1 && (
          <span className="text-warn">{change.writes} writes in one step: too quick to tell apart</span>
        )}
      </div>
      <JsonDiff label="Change" before={change.before ?? ''} after={change.after ?? ''} />
    </div>
  );
}
