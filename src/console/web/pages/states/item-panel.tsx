// The detail of an entry: read-only until the user selects Edit, kept up to date, and saved only over the version that
// was read (STA-3 to STA-7).

import { Pencil, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useKeys } from '../../app/keys.ts';
import { isNotFound } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { usePageSearch } from '../../data/search.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes } from '../../kit/charts/times.ts';
import { EmptyState, Loading } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { CopyAs, CopyId } from '../../kit/inputs/copy.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import { type Tab, Tabs } from '../../kit/layout/tabs.tsx';
import { ChangesTab } from './changes-tab.tsx';
import { DeleteDialog } from './delete-items.tsx';
import { EditItem } from './edit-item.tsx';
import { FiredFunctions } from './fired-functions.tsx';
import { type ItemTab, STATES_SEARCH } from './search.ts';
import { UpdateTab } from './update-tab.tsx';
import { type LiveItemState, useLiveItem } from './use-live-item.ts';

interface ItemPanelProps {
  readonly scope: string;
  readonly itemKey: string;
  readonly onClose: () => void;
}

export function ItemPanel({ scope, itemKey, onClose }: ItemPanelProps): ReactNode {
  const { search, setSearch } = usePageSearch(STATES_SEARCH);
  const live = useLiveItem(scope, itemKey);
  const { item, error, changes, refetch } = live;
  const isReadOnly = useReadOnly();
  const tabs: Tab<ItemTab>[] = [{ id: 'value', label: 'Value' }];
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
  readonly live: LiveItemState;
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
        <EditItem
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

function CopyRead({ scope, itemKey }: Pick<ValueTabProps, 'scope' | 'itemKey'>): ReactNode {
  const payloadText = JSON.stringify({ scope, key: itemKey });
  return <CopyAs call={{ functionId: 'state::get', payloadText, mode: 'wait' }} />;
}
