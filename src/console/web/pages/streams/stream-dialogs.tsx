// Dialogs for a new item, and for a custom event (STR-3).

import { type ReactNode, useState } from 'react';
import { call } from '../../data/api.ts';
import { refetchSoon } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { toast } from '../../kit/feedback/toast.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { Field, Input } from '../../kit/inputs/field.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { Sheet } from '../../kit/layout/overlays.tsx';
import { STREAMS_SEARCH } from './search.ts';

interface StreamDialogProps {
  readonly stream: string;
  readonly group: string;
  readonly onClose: () => void;
}

export function AddStreamItem({ onClose, ...given }: StreamDialogProps): ReactNode {
  const { setSearch } = usePageSearch(STREAMS_SEARCH);
  const [{ stream, group, item }, setPlace] = useState({ ...given, item: '' });
  const run = async (text: string): Promise<void> => {
    await call('PUT /streams/{stream}/{group}/items/{id}', {
      parts: { stream, group, id: item },
      text: `{"data":${text}}`,
    });
    refetchSoon(['streams']);
    refetchSoon(['stream-items', stream, group]);
    setSearch({ stream, group, item, q: '' }, { push: true });
  };
  return (
    <StreamForm
      title="Add item"
      action="Add"
      isReady={[stream, group, item].every(isGiven)}
      needs="a stream, a group and an item"
      {...{ run, onClose }}
    >
      <TextField label="Stream" value={stream} onChange={(text) => setPlace((now) => ({ ...now, stream: text }))} />
      <TextField label="Group" value={group} onChange={(text) => setPlace((now) => ({ ...now, group: text }))} />
      <TextField label="Item" value={item} onChange={(text) => setPlace((now) => ({ ...now, item: text }))} />
    </StreamForm>
  );
}

export function SendEvent({ onClose, ...given }: StreamDialogProps): ReactNode {
  const [{ stream, group, type, id }, setEvent] = useState({ ...given, type: '', id: '' });
  const run = async (text: string): Promise<void> => {
    const head = { stream_name: stream, group_id: group, type, ...(isGiven(id) && { id }) };
    await call('POST /streams/send', { text: `${JSON.stringify(head).slice(0, -1)},"data":${text}}` });
    toast({ tone: 'good', text: 'Sent' });
  };
  return (
    <StreamForm
      title="Send event"
      action="Send"
      isReady={[stream, group, type].every(isGiven)}
      needs="a stream, a group and an event type"
      {...{ run, onClose }}
    >
      <TextField label="Stream" value={stream} onChange={(text) => setEvent((now) => ({ ...now, stream: text }))} />
      <TextField label="Group" value={group} onChange={(text) => setEvent((now) => ({ ...now, group: text }))} />
      <TextField label="Event type" value={type} onChange={(text) => setEvent((now) => ({ ...now, type: text }))} />
      <TextField label="Item, if any" value={id} onChange={(text) => setEvent((now) => ({ ...now, id: text }))} />
    </StreamForm>
  );
}

function isGiven(text: string): boolean {
  return text !== '';
}

function TextField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}): ReactNode {
  return (
    <Field label={label} className="min-w-36 flex-1">
      {(ids) => <Input {...ids} value={value} onChange={({ target }) => onChange(target.value)} />}
    </Field>
  );
}

interface StreamFormProps {
  readonly title: string;
  readonly action: string;
  readonly isReady: boolean;
  /** The fields that are required. */
  readonly needs: string;
  readonly run: (text: string) => Promise<void>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

function StreamForm({ title, action, isReady, needs, run, onClose, children }: StreamFormProps): ReactNode {
  const [text, setText] = useState('{}');
  const [error, setError] = useState<unknown>();
  const problem = jsonProblem(text);
  const isBlocked = !isReady || problem !== undefined || text.trim() === '';
  const send = (): void => {
    if (isBlocked) return;
    setError(undefined);
    run(text).then(onClose, setError);
  };
  return (
    <Sheet title={title} onClose={onClose}>
      <div className="flex flex-wrap gap-3">{children}</div>
      <JsonInput label="Data" value={text} onChange={setText} onRun={send} onSave={send} />
      {problem !== undefined && <p className="text-sm text-bad">{problem}</p>}
      {error !== undefined && <ErrorCard error={error} what={title} />}
      <div className="flex items-center justify-end gap-2">
        {!isReady && <span className="mr-auto text-sm text-muted">It needs {needs}.</span>}
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" disabled={isBlocked} onClick={send}>
          {action}
        </Button>
      </div>
    </Sheet>
  );
}
