// The last traces and logs of a function, with links to all of them.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatDuration } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading } from '../../kit/feedback/empty-state.tsx';
import { Badge, WordStatus } from '../../kit/feedback/status.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';

const SHOWN = 50;

export function TracesTab({ functionId }: { readonly functionId: string }): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['traces', 'of function', functionId],
    queryFn: ({ signal }) => call('POST /traces/search', { body: { function_id: functionId, limit: SHOWN }, signal }),
    refetchInterval: 5_000,
  });
  if (error !== null && data === undefined) {
    return <FailedState error={error} what="Traces" shows="the calls of this function" retry={() => void refetch()} />;
  }
  if (data === undefined) return <Loading what="the traces" />;
  if (data.items.length === 0) {
    return (
      <EmptyState title="No traces yet">
        <p>Call the function, and its trace appears here.</p>
      </EmptyState>
    );
  }
  return (
    <>
      <ul>
        {data.items.map((trace) => (
          <li key={trace.trace_id} className="flex min-h-9 items-center gap-3 border-b border-line px-3 py-1">
            <span className="flex w-18 shrink-0">
              <WordStatus word={trace.status === 'ok' ? 'OK' : trace.status} />
            </span>
            <Link to={`/traces/${trace.trace_id}`} className="min-w-0 flex-1 truncate text-accent hover:underline">
              {visibleText(trace.name)}
            </Link>
            <span className="text-muted">{formatDuration(trace.duration_ms)}</span>
            <Time ms={trace.start_time_unix_nano / 1e6} className="w-20 text-right text-muted" />
          </li>
        ))}
      </ul>
      <Link to="/traces" search={{ fn: functionId }} className="block px-3 py-2 text-accent hover:underline">
        All its traces
      </Link>
    </>
  );
}

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
