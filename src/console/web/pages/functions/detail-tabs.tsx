// Tabs with the engine's data on a function, and with its last traces and logs.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FunctionDetail, FunctionFigures } from '../../../api/registry.ts';
import { call } from '../../data/api.ts';
import { boundsOf, rangeLabel, useTimeRange } from '../../data/time-range.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatCount, formatDuration, formatRate, formatShare } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading, Snippet } from '../../kit/feedback/empty-state.tsx';
import { Badge, WordStatus } from '../../kit/feedback/status.tsx';
import { TriggerIcon } from '../../kit/feedback/trigger-icon.tsx';
import { CopyId, copiesOf, useCallEndpoints } from '../../kit/inputs/copy.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { type SchemaNode, sampleOf } from '../../kit/json/logic/schema-at.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Properties } from '../../kit/layout/page.tsx';
import { ConfigWords } from '../triggers/columns.tsx';

interface TabProps {
  readonly detail: FunctionDetail;
}

export function OverviewTab({ detail }: TabProps): ReactNode {
  const { figures } = detail;
  const { range } = useTimeRange();
  const isLive = range.from === '' && range.to === '';
  const window = isLive ? 'last 5 minutes' : rangeLabel(range).toLowerCase();
  const rows: [string, ReactNode][] = [
    ['Function', <CopyId key="id" id={detail.function_id} what="function id" />],
    ['Status', <WordStatus key="status" word={detail.status} />],
    ['Description', visibleText(detail.description ?? '–')],
  ];
  if (figures !== null) {
    rows.push(
      ['Calls', `${formatCount(figures.calls)}, ${formatRate(figures.calls_per_minute)} a minute (${window})`],
      ['Errors', `${formatCount(figures.errors)}, ${formatShare(figures.error_rate)} of them`],
      ['p50 · p95 · p99', [figures.p50_ms, figures.p95_ms, figures.p99_ms].map(durationOr).join(' · ')],
      ['Last call', figures.last_call_at === null ? 'none yet' : <Time key="call" ms={figures.last_call_at} />],
      ['Last error', lastError(figures)],
    );
  }
  return (
    <div className="flex flex-col gap-3 p-3">
      <Properties rows={rows} />
      <CalledBy functionId={detail.function_id} />
      {figures === null && (
        <p className="text-muted">No figures yet. They need the observability module with metrics.</p>
      )}
      {figures?.last_error !== null && figures?.last_error !== undefined && (
        <pre className="rounded-md border border-line bg-ground p-2 text-sm break-words whitespace-pre-wrap text-bad">
          {visibleText(figures.last_error)}
        </pre>
      )}
      {detail.metadata !== null && detail.metadata !== undefined && (
        <JsonTree label="metadata" text={JSON.stringify(detail.metadata)} />
      )}
    </div>
  );
}

const CALLERS_SHOWN = 20;

/** Counted over the time range, or the last hour. */
function CalledBy({ functionId }: { readonly functionId: string }): ReactNode {
  const { range } = useTimeRange();
  const isLive = range.from === '' && range.to === '';
  const { data } = useQuery({
    queryKey: ['callers', functionId, range],
    queryFn: ({ signal }) => {
      const bounds = isLive ? { start_time: Date.now() - HOUR_MS } : boundsOf(range, Date.now());
      return call('GET /calls', { query: { ...bounds, function_id: functionId, edges: true }, signal });
    },
    retry: false,
  });
  const callers = (data?.edges ?? [])
    .filter(({ to, calls }) => to.kind === 'function' && to.name === functionId && calls > 0)
    .sort((a, b) => b.calls - a.calls);
  if (callers.length === 0) return undefined;
  return (
    <section aria-label="Called by">
      <h3 className="mb-1 text-sm font-semibold text-muted">Called by {isLive && 'in the last hour'}</h3>
      <ul>
        {callers.slice(0, CALLERS_SHOWN).map(({ from, calls, errors }) => (
          <li key={from} className="flex gap-3">
            <Link to="/functions" search={{ id: from, tab: 'overview' }} className="text-accent hover:underline">
              {visibleText(from)}
            </Link>
            <span className="text-muted">
              {formatCount(calls)} calls{errors > 0 && `, ${formatCount(errors)} failed`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const HOUR_MS = 3_600_000;

/** The message of the error is shown below. */
function lastError({ errors, last_error_at: at, last_error_trace: trace }: FunctionFigures): ReactNode {
  if (at === null) return errors === 0 ? 'none since the engine started' : '–';
  return (
    <span key="error" className="flex gap-2">
      <Time ms={at} />
      {trace !== null && (
        <Link to={`/traces/${trace}`} className="text-accent hover:underline">
          Its trace
        </Link>
      )}
    </span>
  );
}

function durationOr(ms: number | null): string {
  return ms === null ? '–' : formatDuration(ms);
}

export function TriggersTab({ detail }: TabProps): ReactNode {
  const { registered_triggers: triggers } = detail;
  if (triggers.length === 0) {
    return (
      <EmptyState title="No trigger calls this function">
        <p>Bind one in the worker:</p>
        <Snippet label="code" text={bindingCode(detail.function_id)} />
      </EmptyState>
    );
  }
  return (
    <ul>
      {triggers.map((trigger) => (
        <li key={trigger.id} className="flex min-h-9 items-center gap-3 border-b border-line px-3 py-1">
          <TriggerIcon type={trigger.trigger_type} />
          <Link to="/triggers" search={{ id: trigger.id }} className="flex min-w-0 flex-1 text-accent hover:underline">
            <ConfigWords row={trigger} />
          </Link>
          <WordStatus word={trigger.status} title={trigger.reason ?? undefined} />
        </li>
      ))}
    </ul>
  );
}

function bindingCode(functionId: string): string {
  return `svc.registerTrigger({
  type: 'http',
  function_id: ${JSON.stringify(functionId)},
  config: { api_path: '/path', http_method: 'POST' },
})`;
}

export function WorkersTab({ detail }: TabProps): ReactNode {
  return (
    <ul>
      {detail.workers.map(({ id, name }) => (
        <li key={id} className="flex min-h-9 items-center gap-3 border-b border-line px-3 py-1">
          <Link to="/workers" search={{ id }} className="min-w-0 flex-1 truncate text-accent hover:underline">
            {visibleText(name)}
          </Link>
          <CopyId id={id} what="worker id" className="text-muted" />
        </li>
      ))}
    </ul>
  );
}

export function SchemaTab({ detail }: TabProps): ReactNode {
  const { request_schema: request, response_schema: response } = detail;
  if (request === null && response === null) {
    return (
      <EmptyState title="No schema is registered">
        <p>Register the function with an input and an output schema, and this page shows a form for them.</p>
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-4 p-3">
      {request !== null && <SchemaPart name="Request" schema={request} />}
      {response !== null && <SchemaPart name="Response" schema={response} />}
    </div>
  );
}

function SchemaPart({ name, schema }: { readonly name: string; readonly schema: unknown }): ReactNode {
  return (
    <section>
      <h3 className="mb-1 text-sm font-semibold text-muted">{name}</h3>
      <JsonTree label={`${name.toLowerCase()} schema`} text={JSON.stringify(schema)} depth={4} />
    </section>
  );
}

export function CodeTab({ detail }: TabProps): ReactNode {
  const endpoints = useCallEndpoints();
  const schema = detail.request_schema as SchemaNode | null;
  const payloadText = schema === null ? '{}' : JSON.stringify(sampleOf(schema));
  const copies = copiesOf({ functionId: detail.function_id, payloadText, mode: 'wait' }, endpoints);
  return (
    <div className="flex flex-col gap-4 p-3">
      {copies.map(({ label, text }) => (
        <section key={label}>
          <h3 className="mb-1 text-sm font-semibold text-muted">{label}</h3>
          <Snippet text={text} label={label} />
        </section>
      ))}
    </div>
  );
}

const SHOWN = 50;

export function LogsTab({ functionId }: { readonly functionId: string }): ReactNode {
  const q = `function=${JSON.stringify(functionId)}`;
  const { data, error, refetch } = useQuery({
    queryKey: ['logs', 'of function', functionId],
    queryFn: ({ signal }) => call('POST /logs/search', { body: { q, limit: SHOWN }, signal }),
    refetchInterval: 5_000,
  });
  if (error !== null && data === undefined) {
    return <FailedState error={error} what="Logs" shows="what this function writes" retry={() => void refetch()} />;
  }
  if (data === undefined) return <Loading what="the logs" />;
  if (data.items.length === 0) {
    return (
      <EmptyState title="No logs yet">
        <p>What the function writes with its logger appears here.</p>
      </EmptyState>
    );
  }
  return (
    <>
      <ul>
        {data.items.map((log) => (
          <li key={log.id} className="flex min-h-9 items-start gap-3 border-b border-line px-3 py-1.5">
            <span className="flex w-12 shrink-0">
              <Badge tone={LEVEL_TONES[log.severity_text] ?? 'idle'}>{log.severity_text}</Badge>
            </span>
            <span className="min-w-0 flex-1 break-words">{visibleText(log.body)}</span>
            <Time ms={log.timestamp_unix_nano / 1e6} className="text-muted" />
          </li>
        ))}
      </ul>
      <Link to="/logs" search={{ q }} className="block px-3 py-2 text-accent hover:underline">
        All its logs
      </Link>
    </>
  );
}

const LEVEL_TONES: Readonly<Record<string, 'bad' | 'warn' | 'busy'>> = { ERROR: 'bad', WARN: 'warn', INFO: 'busy' };
