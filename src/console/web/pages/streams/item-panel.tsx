// An item of a stream: read-only until the user selects Edit or Delete (STR-3).

import { useQuery } from '@tanstack/react-query';
import { Pencil, Save, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { StreamItem } from '../../../api/streams.ts';
import { useKeys } from '../../app/keys.ts';
import { ApiError, call, callText } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { useDraft } from '../../data/drafts.ts';
import { refetchSoon } from '../../data/queries.ts';
import { formatBytes } from '../../kit/charts/times.ts';
import { ConfirmDialog } from '../../kit/feedback/confirm.tsx';
import { EmptyState, Loading } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { CopyAs, CopyId } from '../../kit/inputs/copy.tsx';
import { JsonDiff, JsonInput } from '../../kit/json/json-editor.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { formatJsonSource, memberSource } from '../../kit/json/logic/json-member.ts';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import { Sheet } from '../../kit/layout/overlays.tsx';

interface StreamItemAddress {
  readonly stream: string;
  readonly group: string;
  readonly item: string;
}

export function StreamItemPanel({
  stream,
  group,
  item,
  onClose,
}: StreamItemAddress & { readonly onClose: () => void }): ReactNode {
  const place = { stream, group, item };
  const { data, error, refetch } = useQuery({
    queryKey: ['stream-item', stream, group, item],
    queryFn: async ({ signal }) => {
      const { text } = await callText('GET /streams/{stream}/{group}/items/{id}', {
        parts: { stream, group, id: item },
        signal,
      });
      const facts: StreamItem = JSON.parse(text);
      return { size: facts.size, text: memberSource(text, 'data') ?? 'null' };
    },
  });
  const isGone = error instanceof ApiError && error.exchange.status === 404;
  return (
    <DetailPanel
      label={`Item ${item}`}
      title={
        <span className="flex font-mono">
          <CopyId id={item} what="item id" />
        </span>
      }
      onClose={onClose}
    >
      {data === undefined && error === null && <Loading what="the item" />}
      {isGone && (
        <EmptyState title="No such item">
          <code className="break-all text-text">{visibleText(item)}</code> was deleted, or never was.
        </EmptyState>
      )}
      {data === undefined && error !== null && !isGone && (
        <div className="p-3">
          <ErrorCard error={error} what="Reading the item" retry={() => void refetch()} />
        </div>
      )}
      {data !== undefined && !isGone && <Item place={place} {...data} refetch={() => void refetch()} />}
    </DetailPanel>
  );
}

interface ItemProps {
  readonly place: StreamItemAddress;
  readonly size: number;
  readonly text: string;
  readonly refetch: () => void;
}

function Item({ place, size, text, refetch }: ItemProps): ReactNode {
  const [mode, setMode] = useState<'read' | 'edit' | 'delete'>('read');
  const isReadOnly = useReadOnly();
  useKeys([{ keys: ['e'], name: 'Edit', run: () => setMode('edit') }], !isReadOnly);
  const { stream, group, item } = place;
  const asked = JSON.stringify({ stream_name: stream, group_id: group, item_id: item });
  return (
    <div className="flex flex-col gap-3 p-3">
      {mode === 'edit' ? (
        <EditStreamItem
          {...{ place, text }}
          onDone={() => {
            setMode('read');
            refetch();
          }}
        />
      ) : (
        <>
          <div className="flex flex-wrap items-center gap-2">
            {!isReadOnly && (
              <>
                <Button icon={<Pencil size={13} />} onClick={() => setMode('edit')}>
                  Edit
                </Button>
                <Button icon={<Trash2 size={13} />} onClick={() => setMode('delete')}>
                  Delete
                </Button>
              </>
            )}
            <CopyAs call={{ functionId: 'stream::get', payloadText: asked, mode: 'wait' }} />
            <span className="text-sm text-muted">{formatBytes(size)}</span>
          </div>
          <JsonTree label="data" text={text} depth={3} maxHeight={560} />
        </>
      )}
      {mode === 'delete' && (
        <ConfirmDialog
          open
          onClose={() => setMode('read')}
          title="Delete this item?"
          action="Delete"
          run={async () => {
            await call('DELETE /streams/{stream}/{group}/items/{id}', { parts: { stream, group, id: item } });
            refetchSoon(['stream-items', stream, group]);
            refetch();
          }}
        >
          <p className="break-all">{visibleText(item)} is gone for good. Subscribers of the group are notified.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

interface EditStreamItemProps {
  readonly place: StreamItemAddress;
  readonly text: string;
  readonly onDone: () => void;
}

function EditStreamItem({ place, text, onDone }: EditStreamItemProps): ReactNode {
  const { stream, group, item } = place;
  // Writes by others do not change the text that is edited.
  const [base] = useState(() => formatJsonSource(text));
  const draft = useDraft(`stream.${stream}.${group}.${item}`, base);
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const problem = jsonProblem(draft.text);
  const isBlocked = problem !== undefined || draft.text.trim() === '' || !draft.isDraft;
  const ask = (): void => {
    if (!isBlocked) setAsking(true);
  };
  const save = (): void => {
    const parts = { stream, group, id: item };
    call('PUT /streams/{stream}/{group}/items/{id}', { parts, text: `{"data":${draft.text}}` }).then(() => {
      draft.drop();
      refetchSoon(['stream-items', stream, group]);
      onDone();
    }, setError);
  };
  useKeys([{ keys: ['mod+s'], name: 'Save', inInputs: true, run: ask }]);
  return (
    <>
      <JsonInput
        label="Data"
        value={draft.text}
        onChange={draft.set}
        onSave={ask}
        onRun={ask}
        minLines={12}
        note={draft.isDraft && <Badge>draft</Badge>}
      />
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" icon={<Save size={13} />} disabled={isBlocked} onClick={ask}>
          Save
        </Button>
        <Button
          onClick={() => {
            draft.drop();
            onDone();
          }}
        >
          Cancel
        </Button>
        {problem !== undefined && <span className="text-sm text-bad">{problem}</span>}
        {problem === undefined && !draft.isDraft && <span className="text-sm text-muted">Nothing is changed yet.</span>}
      </div>
      {isAsking && (
        <Sheet title="Save this?" onClose={() => setAsking(false)}>
          <p className="text-muted">
            Every subscriber of the group receives the change. Below: the stored item and your text.
          </p>
          <JsonDiff label="What will change" before={text} after={draft.text} />
          {error !== undefined && <ErrorCard error={error} what="Saving" />}
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsking(false)}>Back to the edit</Button>
            <Button look="primary" onClick={save}>
              Save
            </Button>
          </div>
        </Sheet>
      )}
    </>
  );
}
