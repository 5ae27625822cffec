// Calling a function: its input as text or as a form, the call mode, and the result (FUN-4 to FUN-7, FUN-9).

import { useQuery } from '@tanstack/react-query';
import { Play, Square } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import type { FunctionDetail } from '../../../api/registry.ts';
import { useKeys } from '../../app/keys.ts';
import { call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { useDraft } from '../../data/drafts.ts';
import { useNow } from '../../kit/charts/time.tsx';
import { formatSpan } from '../../kit/charts/times.ts';
import { EmptyState } from '../../kit/feedback/empty-state.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import type { CopiedCall } from '../../kit/inputs/call-text.ts';
import { CopyAs } from '../../kit/inputs/copy.tsx';
import { Field, Input, Segments, Select } from '../../kit/inputs/field.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { type SchemaNode, sampleOf } from '../../kit/json/logic/schema-at.ts';
import { useInvoke } from './invocations.ts';
import { InvocationHistory, InvokeResult } from './invoke-result.tsx';
import { useRunAgain } from './run-again.tsx';
import { SeriesPanel } from './series-panel.tsx';

type Mode = CopiedCall['mode'];

const MODES: readonly { value: Mode; label: string }[] = [
  { value: 'wait', label: 'Wait' },
  { value: 'void', label: 'Fire and forget' },
  { value: 'enqueue', label: 'Enqueue' },
];

interface InvokeTabProps {
  readonly detail: FunctionDetail;
  readonly isGone: boolean;
}

export function InvokeTab({ detail, isGone }: InvokeTabProps): ReactNode {
  if (useReadOnly()) {
    return (
      <EmptyState title="This console is read-only">
        <p>
          It was started with <code>--read-only</code>: functions cannot be called from here.
        </p>
      </EmptyState>
    );
  }
  return <Invoke detail={detail} isGone={isGone} />;
}

function Invoke({ detail, isGone }: InvokeTabProps): ReactNode {
  const id = detail.function_id;
  const schema = detail.request_schema as SchemaNode | null;
  const invoke = useInvoke(id);
  const initial = useMemo(() => (schema === null ? '{}' : JSON.stringify(sampleOf(schema), undefined, 2)), [schema]);
  const draft = useDraft(`invoke.${id}`, invoke.history[0]?.input ?? initial);
  const again = useRunAgain(draft);
  const [mode, setMode] = useState<Mode>('wait');
  const [queue, setQueue] = useState('');
  const [timeout, setTimeoutText] = useState('');
  const problem = jsonProblem(draft.text);
  const timeoutMs = timeout.trim() === '' ? undefined : Number(timeout);
  const copied: CopiedCall = { functionId: id, payloadText: draft.text, mode, queue, timeoutMs };
  const badTimeout = timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs > 0);
  const blocked =
    again.isBlocked || isGone || problem !== undefined || badTimeout || (mode === 'enqueue' && queue === '');
  const run = (): void => {
    if (!blocked) invoke.start(copied);
  };
  useKeys([
    { keys: ['mod+enter'], name: 'Invoke', inInputs: true, run },
    { keys: ['r'], name: 'Run again', run },
  ]);
  return (
    <div className="flex flex-col gap-3 p-3">
      {again.note}
      <JsonInput
        label="Input"
        value={draft.text}
        onChange={draft.set}
        onRun={run}
        schema={schema}
        note={draft.isDraft && <Badge>draft</Badge>}
      />
      <div className="flex flex-wrap items-end gap-2">
        <Segments label="How to call" value={mode} choices={MODES} onChange={setMode} />
        {mode === 'enqueue' && <QueuePicker value={queue} onChange={setQueue} />}
        {mode === 'wait' && <TimeoutInput value={timeout} isBad={badTimeout} onChange={setTimeoutText} />}
      </div>
      <div className="flex flex-wrap items-center gap-2">
        {invoke.running === undefined ? (
          <Button look="primary" icon={<Play size={13} />} disabled={blocked} onClick={run}>
            Invoke
          </Button>
        ) : (
          <Button icon={<Square size={13} />} onClick={invoke.cancel}>
            Cancel
          </Button>
        )}
        <CopyAs call={copied} />
        {invoke.running !== undefined && <Waiting sinceMs={invoke.running.sinceMs} />}
        {problem !== undefined && <span className="text-sm text-bad">{problem}</span>}
      </div>
      <InvokeResult invoke={invoke} queue={queue} />
      <SeriesPanel key={id} call={copied} blocked={blocked} />
      <InvocationHistory
        history={invoke.history}
        edit={(input) => draft.set(input)}
        rerun={(input) => {
          draft.set(input);
          invoke.start({ ...copied, payloadText: input });
        }}
      />
    </div>
  );
}

interface TimeoutInputProps {
  readonly value: string;
  readonly isBad: boolean;
  readonly onChange: (text: string) => void;
}

function TimeoutInput({ value, isBad, onChange }: TimeoutInputProps): ReactNode {
  return (
    <Input
      aria-label="Timeout in milliseconds"
      placeholder="timeout, ms"
      inputMode="numeric"
      className="w-28"
      aria-invalid={isBad}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function Waiting({ sinceMs }: { readonly sinceMs: number }): ReactNode {
  const nowMs = useNow();
  return <span className="text-sm text-muted">Waiting for {formatSpan(Math.max(0, nowMs - sinceMs))}</span>;
}

function QueuePicker({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (queue: string) => void;
}): ReactNode {
  const { data, error } = useQuery({
    queryKey: ['queues', 'names'],
    queryFn: ({ signal }) => call('GET /queues', { query: { limit: 1_000 }, signal }),
  });
  const queues = data?.items.filter(({ type }) => type !== 'topic') ?? [];
  return (
    <Field label="Queue" error={error === null ? undefined : 'There is no queue module'} className="w-44">
      {(ids) => (
        <Select {...ids} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">Choose…</option>
          {queues.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      )}
    </Field>
  );
}
