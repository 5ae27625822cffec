// The result or error of a call, with duration, size, worker and trace (FUN-4, FUN-5).

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { refetchSoon } from '../../data/queries.ts';
import { useLive } from '../../data/use-live.ts';
import { formatBytes, formatDuration } from '../../kit/charts/times.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Status, WordStatus } from '../../kit/feedback/status.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { memberSource } from '../../kit/json/logic/json-member.ts';
import type { Invocation } from './invocations.ts';
import type { InvokeState } from './use-invoke.ts';

export function InvokeResult({ invoke, queue }: { readonly invoke: InvokeState; readonly queue: string }): ReactNode {
  const { last, error, running } = invoke;
  if (last === undefined) return undefined;
  return (
    <section aria-label="Result" className={running === undefined ? undefined : 'opacity-60'}>
      <ResultFacts last={last} />
      {last.ok ? <ResultBody last={last} queue={queue} /> : <ErrorCard error={error} />}
    </section>
  );
}

function ResultFacts({ last }: { readonly last: Invocation }): ReactNode {
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
