// The result or error of a call, with duration, size, worker and trace (FUN-4, FUN-5). Below it the earlier calls from
// this browser: search, run again, edit, and compare two of them (FUN-7).

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { call } from '../../data/api.ts';
import { refetchSoon } from '../../data/queries.ts';
import { useLive } from '../../data/use-live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatDuration } from '../../kit/charts/times.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Shape, Status, WordStatus } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { Input } from '../../kit/inputs/field.tsx';
import { JsonDiff } from '../../kit/json/json-editor.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { memberSource } from '../../kit/json/logic/json-member.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import type { Invocation, InvokeState } from './invocations.ts';

export function InvokeResult({ invoke, queue }: { readonly invoke: InvokeState; readonly queue: string }): ReactNode {
  const { last, error, running } = invoke;
  if (last === undefined) return undefined;
  return (
    <section aria-label="Result" className={running === undefined ? undefined : 'opacity-60'}>
      <ResultSummary last={last} />
      {last.ok ? <ResultBody last={last} queue={queue} /> : <ErrorCard error={error} />}
    </section>
  );
}

function ResultSummary({ last }: { readonly last: Invocation }): ReactNode {
  return (
    <div role="status" className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <Status tone={last.ok ? 'good' : 'bad'} word={last.ok ? WORDS[last.mode] : 'Error'} />
      <span>{formatDuration(last.durationMs)}</span>
      <span>{formatBytes(last.bytes)}</span>
      {last.worker !== undefined && (
        <span>
          on <CopyId id={last.worker} what="worker" to="/workers" search={{ q: last.worker }} />
        </span>
      )}
      {last.traceId !== undefined && (
        <Link to={`/traces/${last.traceId}`} className="text-accent hover:underline">
          Open trace
        </Link>
      )}
    </div>
  );
}

const WORDS = { wait: 'OK', void: 'Sent', enqueue: 'Enqueued' } as const;

function ResultBody({ last, queue }: { readonly last: Invocation; readonly queue: string }): ReactNode {
  if (last.mode === 'void') return <p className="text-muted">A fire-and-forget call has no result.</p>;
  if (last.mode === 'enqueue') return <FollowedJob queue={queue} receipt={receiptOf(last.output)} />;
  if (last.output === '') return <p className="text-muted">The function returned nothing.</p>;
  return <JsonTree label="result" text={last.output} />;
}

function receiptOf(text: string): string {
  const receipt: unknown = JSON.parse(memberSource(text, 'messageReceiptId') ?? '""');
  return String(receipt);
}

/** Follows the job from its receipt until it is done or a dead letter (FUN-5). */
function FollowedJob({ queue, receipt }: { readonly queue: string; readonly receipt: string }): ReactNode {
  const key = ['job', queue, receipt];
  const { data } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call('GET /queues/{queue}/jobs/{id}', { parts: { queue, id: receipt }, signal }),
  });
  useLive(`queue:${encodeURIComponent(queue)}`, { items: () => refetchSoon(key), back: () => refetchSoon(key) });
  const state = data?.state ?? 'waiting';
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-md border border-line bg-ground p-2">
      <WordStatus word={state} />
      <CopyId id={receipt} what="receipt" to="/queues" search={{ queue, id: receipt }} />
    </div>
  );
}

interface HistoryProps {
  readonly history: readonly Invocation[];
  readonly edit: (input: string) => void;
  readonly rerun: (input: string) => void;
}

const PREVIEW_CHARS = 120;

export function InvocationHistory({ history, edit, rerun }: HistoryProps): ReactNode {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<readonly number[]>([]);
  if (history.length === 0) return undefined;
  const wanted = text.toLowerCase();
  const shown = history.filter(({ input, output }) => `${input}\n${output}`.toLowerCase().includes(wanted));
  const [one, other] = chosen.map((atMs) => history.find((past) => past.atMs === atMs));
  const choose = (atMs: number): void =>
    setChosen((now) => (now.includes(atMs) ? now.filter((past) => past !== atMs) : [...now.slice(-1), atMs]));
  return (
    <section aria-label="History" className="flex flex-col gap-2 border-t border-line pt-3">
      <div className="flex items-center gap-2">
        <h3 className="flex-1 text-sm font-semibold text-muted">Calls from this browser</h3>
        <Input
          aria-label="Search the history"
          placeholder="Search…"
          className="h-6 w-36 text-sm"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      {one !== undefined && other !== undefined && (
        <JsonDiff label="Difference of the two results" before={one.output} after={other.output} />
      )}
      <ul className="flex max-h-72 flex-col overflow-y-auto">
        {shown.map((past) => (
          <li key={past.atMs} className="flex items-center gap-2 border-b border-line py-1 text-sm">
            <input
              type="checkbox"
              aria-label="Compare this result"
              checked={chosen.includes(past.atMs)}
              onChange={() => choose(past.atMs)}
              className="accent-(--accent-fill)"
            />
            <Shape tone={past.ok ? 'good' : 'bad'} />
            <span className="sr-only">{past.ok ? 'OK' : 'Error'}</span>
            <Time ms={past.atMs} className="w-20 shrink-0 truncate text-muted" />
            <span className="w-16 shrink-0 text-right text-muted">{formatDuration(past.durationMs)}</span>
            <code className="min-w-0 flex-1 truncate">{visibleText(past.input.slice(0, PREVIEW_CHARS))}</code>
            <Button look="ghost" className="h-6" onClick={() => edit(past.input)}>
              Edit
            </Button>
            <Button look="ghost" className="h-6" onClick={() => rerun(past.input)}>
              Run again
            </Button>
          </li>
        ))}
        {shown.length === 0 && <li className="py-2 text-muted">No call contains that text.</li>}
      </ul>
    </section>
  );
}
