// The runs of a function: each call of it, how it was caused and how it ended (FUN-8).

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { explainRetention } from '../../../../core/telemetry/records/retention.ts';
import type { Run } from '../../../../core/telemetry/spans/runs.ts';
import { call } from '../../data/api.ts';
import { boundsOf, useTimeRange } from '../../data/time-range.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatCountOf, formatDuration, formatLocal } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading } from '../../kit/feedback/empty-state.tsx';
import { WordStatus } from '../../kit/feedback/status.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { RunCharts } from './run-charts.tsx';
import { RunPayloads } from './run-payloads.tsx';

const SHOWN = 100;
const REFRESH_MS = 5_000;

export function RunsTab({ functionId }: { readonly functionId: string }): ReactNode {
  const [errors, setErrors] = useState(false);
  const { range } = useTimeRange();
  const { data, error, refetch } = useQuery({
    queryKey: ['runs', functionId, errors, range],
    queryFn: ({ signal }) => {
      const query = { ...boundsOf(range, Date.now()), errors, limit: SHOWN };
      return call('GET /functions/{id}/runs', { parts: { id: functionId }, query, signal });
    },
    refetchInterval: REFRESH_MS,
  });
  if (error !== null && data === undefined) {
    return <FailedState error={error} what="Runs" shows="the calls of this function" retry={() => void refetch()} />;
  }
  if (data === undefined) return <Loading what="the runs" />;
  const { items, total, retention } = data;
  return (
    <>
      <RunCharts functionId={functionId} />
      <div className="flex items-center justify-between gap-3 border-b border-line px-3 py-2">
        <span className="text-sm text-muted">{formatCountOf(total ?? items.length, 'run')}</span>
        <Toggle label="Only errors" checked={errors} onChange={setErrors} />
      </div>
      {items.length === 0 && (
        <EmptyState title={errors ? 'No failed runs' : 'No runs yet'}>
          <p>{errors ? 'Every stored run has succeeded.' : 'Call the function, and its run appears here.'}</p>
        </EmptyState>
      )}
      <ul aria-label="Runs">
        {items.map((run) => (
          <RunLine key={run.trace_id + run.span_id} run={run} />
        ))}
      </ul>
      {items.length > 0 && items.every(({ has_payload }) => !has_payload) && (
        <p className="px-3 pt-2 text-sm text-muted">
          Inputs and outputs of these runs are not kept. Set <code>payloads</code> of svc-observability to errors,
          sampled or all.
        </p>
      )}
      {retention !== undefined && items.length > 0 && (
        <p className="px-3 py-2 text-sm text-muted">{explainRetention('traces', retention, formatLocal).join(' ')}</p>
      )}
    </>
  );
}

function RunLine({ run }: { readonly run: Run }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { trace_id: trace, span_id: span, status, worker, error, input_bytes: input, output_bytes: output } = run;
  return (
    <li className="border-b border-line px-3 py-1.5">
      <div className="flex items-center gap-3">
        <span className="flex w-18 shrink-0">
          <WordStatus word={status === 'ok' ? 'OK' : status} />
        </span>
        <Link to={`/traces/${trace}`} search={{ span }} className="min-w-0 flex-1 truncate text-accent hover:underline">
          {causeOf(run)}
        </Link>
        <span className="text-muted">{formatDuration(run.duration_ms)}</span>
        <Time ms={run.started_ms} className="w-20 text-right text-muted" />
      </div>
      <p className="truncate pl-21 text-sm text-muted">
        {worker !== null && `on ${visibleText(worker)}`}
        {input !== null && ` · in ${formatBytes(input)}`}
        {output !== null && ` · out ${formatBytes(output)}`}
      </p>
      {run.has_payload && (
        <details className="pl-21 text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary className="cursor-pointer text-muted hover:text-text">Input and output</summary>
          {isOpen && <RunPayloads traceId={trace} spanId={span} />}
        </details>
      )}
      {error !== null && <p className="line-clamp-2 pl-21 text-sm break-words text-bad">{visibleText(error)}</p>}
    </li>
  );
}

function causeOf({ queue, attempt, trigger }: Run): string {
  if (queue !== null) return `Job of ${visibleText(queue)}${attempt === null ? '' : `, attempt ${attempt}`}`;
  return trigger === null ? 'Call' : `Trigger ${visibleText(trigger)}`;
}
