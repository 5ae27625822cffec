// The detail of a job: payload, attempts, and for a dead letter its actions (QUE-2, QUE-3).

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { JobAttempt, JobDetail } from '../../../api/queues.ts';
import { call, callText, isNotFound } from '../../data/api.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatDuration } from '../../kit/charts/times.ts';
import { EmptyState, Loading } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { WordStatus } from '../../kit/feedback/status.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { takeMember } from '../../kit/json/logic/json-member.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import { Properties } from '../../kit/layout/page.tsx';
import { printTraceFilters, traceFilter } from '../traces/logic/trace-filters.ts';
import { DeadLetterActions } from './dead-letters.tsx';
import { stateWord } from './job-columns.tsx';
import { secretOf } from './logic/queue-state.ts';

interface JobPanelProps {
  /** Undefined: only the receipt is known. */
  readonly queue: string | undefined;
  readonly id: string;
  readonly onClose: () => void;
}

interface ReadJob {
  readonly job: JobDetail;
  readonly payload: string;
}

export function JobPanel({ queue, id, onClose }: JobPanelProps): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['job', queue, id],
    queryFn: ({ signal }) => (queue === undefined ? findJob(id, signal) : readJob(queue, id, signal)),
    refetchInterval: ({ state }) => (state.data?.job.state === 'dead' ? false : 2_000),
  });
  return (
    <DetailPanel
      label={`Job ${id}`}
      title={
        <span className="flex font-mono">
          <CopyId id={id} what="receipt" />
        </span>
      }
      onClose={onClose}
    >
      {data === undefined && error === null && <Loading what="the job" />}
      {error !== null && data === undefined && <NoJob id={id} error={error} retry={() => void refetch()} />}
      {data !== undefined && <JobProperties {...data} isGone={isNotFound(error)} />}
    </DetailPanel>
  );
}

async function readJob(queue: string, id: string, signal: AbortSignal): Promise<ReadJob> {
  const { text } = await callText('GET /queues/{queue}/jobs/{id}', { parts: { queue, id }, signal });
  const { source = 'null', rest } = takeMember(text, 'payload');
  return { job: JSON.parse(rest), payload: source };
}

/** Its queue is not known, so each queue is asked. If none has the job, the last error is the answer. */
async function findJob(id: string, signal: AbortSignal): Promise<ReadJob> {
  const { items } = await call('GET /queues', { query: { limit: 1_000 }, signal });
  let refusal: unknown = new Error('There are no queues');
  for (const { name } of items) {
    try {
      return await readJob(name, id, signal);
    } catch (thrown) {
      if (!isNotFound(thrown)) throw thrown;
      refusal = thrown;
    }
  }
  throw refusal;
}

function NoJob({
  id,
  error,
  retry,
}: {
  readonly id: string;
  readonly error: unknown;
  readonly retry: () => void;
}): ReactNode {
  if (!isNotFound(error)) {
    return (
      <div className="p-3">
        <ErrorCard error={error} what="Reading the job" retry={retry} />
      </div>
    );
  }
  return (
    <EmptyState title="No such job">
      <p>
        <code className="break-all text-text">{visibleText(id)}</code> is done, was purged, or never existed. Finished
        jobs are kept only for a while.
      </p>
    </EmptyState>
  );
}

function JobProperties({ job, payload, isGone }: ReadJob & { readonly isGone: boolean }): ReactNode {
  const rows: [string, ReactNode][] = [
    ['State', <WordStatus key="state" word={isGone ? 'done' : stateWord(job.state)} />],
    [
      'Function',
      <CopyId key="fn" id={job.function_id} what="function id" to="/functions" search={{ id: job.function_id }} />,
    ],
    ['Queue', <CopyId key="queue" id={job.queue} what="queue name" to="/queues" search={{ queue: job.queue }} />],
    ['Attempt', job.attempt],
    ['Enqueued', <Time key="enqueued" ms={job.enqueued_at} />],
    ['Size', formatBytes(job.size_bytes)],
  ];
  if (job.due_at !== null) rows.push(['Due', <Time key="due" ms={job.due_at} />]);
  if (job.failed_at !== null) rows.push(['Died', <Time key="died" ms={job.failed_at} />]);
  if (job.reason !== null) rows.push(['Reason', visibleText(job.reason)]);
  if (job.group !== null) rows.push(['Group', visibleText(job.group)]);
  if (job.edited_at !== null) rows.push(['Payload edited', <Time key="edited" ms={job.edited_at} />]);
  const [isEditing, setEditing] = useState(false);
  return (
    <div className="flex flex-col gap-4 p-3">
      <Properties rows={rows} />
      {job.state === 'dead' && !isGone && (
        <DeadLetterActions job={job} payload={payload} isEditing={isEditing} setEditing={setEditing} />
      )}
      <Attempts job={job} />
      {job.progress !== null && (
        <section className="flex flex-col gap-1">
          <h3 className="text-sm font-medium">Progress</h3>
          <JsonTree label="progress" text={JSON.stringify(job.progress)} />
        </section>
      )}
      {!isEditing && (
        <section aria-label="Payload" className="flex flex-col gap-1">
          <h3 className="text-sm font-medium">Payload</h3>
          {job.payload_available ? (
            <JsonTree label="payload" text={payload} depth={3} />
          ) : (
            <p className="text-muted">
              {job.state === 'done' || isGone
                ? 'The payload of a finished job is not kept.'
                : 'This store gives the payload of a live job only to workers. It can be read once the job is dead.'}
            </p>
          )}
        </section>
      )}
      <div className="flex gap-4">
        <Link
          to="/traces"
          search={{ f: printTraceFilters([traceFilter('function', job.function_id)]) }}
          className="text-accent hover:underline"
        >
          Traces of the function
        </Link>
        <Link to="/logs" search={{ q: `job="${job.id}"` }} className="text-accent hover:underline">
          Logs with this receipt
        </Link>
      </div>
    </div>
  );
}

/** Newest first, as far as the store keeps them. */
function Attempts({ job }: { readonly job: JobDetail }): ReactNode {
  const { data: queue } = useQuery({
    queryKey: ['queue', job.queue],
    queryFn: ({ signal }) => call('GET /queues/{queue}', { parts: { queue: job.queue }, signal }),
  });
  const secret = queue === undefined ? undefined : secretOf(queue, 'attempts');
  if (job.attempts.length === 0) return undefined;
  const [newest] = job.attempts;
  return (
    <section aria-label="Attempts" className="flex flex-col gap-1">
      <h3 className="text-sm font-medium">Attempts</h3>
      <ol className="flex flex-col rounded-md border border-line">
        {job.attempts.map((attempt) => (
          <FailedAttempt key={attempt.attempt} attempt={attempt} />
        ))}
      </ol>
      {(newest?.attempt ?? 0) > job.attempts.length && (
        <p className="text-sm text-faint">{secret ?? 'The store keeps the last attempts only.'}</p>
      )}
    </section>
  );
}

function FailedAttempt({ attempt: one }: { readonly attempt: JobAttempt }): ReactNode {
  const { attempt, at, error, worker, trace_id: trace, delay_ms: delay } = one;
  return (
    <li className="flex flex-col gap-1 border-b border-line p-2 last:border-0">
      <div className="flex flex-wrap items-center gap-x-3 text-sm text-muted">
        <span className="font-medium text-text">Attempt {attempt}</span>
        {at !== null && <Time ms={at} />}
        {worker !== null && (
          <CopyId id={worker} what="worker name" to="/workers" search={{ q: worker }} className="text-muted" />
        )}
        {trace !== null && (
          <Link to={`/traces/${trace}`} className="text-accent hover:underline">
            Open trace
          </Link>
        )}
        {delay !== null && <span>then a wait of {formatDuration(delay)}</span>}
      </div>
      {error !== null && <p className="break-words whitespace-pre-wrap text-bad">{visibleText(error)}</p>}
    </li>
  );
}
