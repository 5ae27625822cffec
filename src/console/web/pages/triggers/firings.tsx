// The last runs of a function through one trigger, from stored traces.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Firing } from '../../../api/registry.ts';
import { call } from '../../data/api.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatDuration } from '../../kit/charts/times.ts';
import { WordStatus } from '../../kit/feedback/status.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';

interface FiringsProps {
  readonly firings: readonly Firing[] | null;
  readonly functionId: string;
}

export function Firings({ firings, functionId }: FiringsProps): ReactNode {
  if (firings === null) return <p className="text-muted">Firings are read from traces: add svc-observability.</p>;
  if (firings.length === 0) return <RunsOfFunction functionId={functionId} />;
  return <FiringList firings={firings} />;
}

const SHOWN = 20;
const LOOK_MS = 3_000;

/** Not every trace names its trigger. Without such a trace, the last traces of its function are shown, with a note. */
function RunsOfFunction({ functionId }: Pick<FiringsProps, 'functionId'>): ReactNode {
  const { data } = useQuery({
    queryKey: ['traces', 'of function', functionId, SHOWN],
    queryFn: ({ signal }) => call('POST /traces/search', { body: { function_id: functionId, limit: SHOWN }, signal }),
    refetchInterval: LOOK_MS,
  });
  if (data === undefined || data.items.length === 0) {
    return <p className="text-muted">None in the stored traces.</p>;
  }
  const runs = data.items.map(
    (trace): Firing => ({
      at: trace.start_time_unix_nano / 1e6,
      trace_id: trace.trace_id,
      ok: trace.error_count === 0,
      error: trace.error_count === 0 ? null : `${trace.error_count} of ${trace.span_count} spans failed`,
      duration_ms: trace.duration_ms,
    }),
  );
  return (
    <>
      <p className="text-muted">No stored trace names this trigger. The last traces of its function:</p>
      <FiringList firings={runs} />
    </>
  );
}

function FiringList({ firings }: { readonly firings: readonly Firing[] }): ReactNode {
  return (
    <ul className="rounded-md border border-line">
      {firings.map((firing, at) => (
        <li
          key={`${firing.at} ${firing.trace_id ?? at}`}
          className="flex min-h-8 items-center gap-3 border-b border-line px-2 py-1 last:border-b-0"
        >
          <span className="w-14 shrink-0">
            <WordStatus word={firing.ok ? 'OK' : 'Error'} />
          </span>
          <Time ms={firing.at} className="w-28 whitespace-nowrap text-muted" />
          <span className="w-16 text-right text-muted">
            {firing.duration_ms === null ? '–' : formatDuration(firing.duration_ms)}
          </span>
          <span className="min-w-0 flex-1 truncate text-bad" title={visibleText(firing.error ?? '')}>
            {visibleText(firing.error ?? '')}
          </span>
          {firing.trace_id !== null && <TraceLink id={firing.trace_id} />}
        </li>
      ))}
    </ul>
  );
}

export function TraceLink({ id }: { readonly id: string }): ReactNode {
  return (
    <Link to={`/traces/${id}`} className="shrink-0 text-accent hover:underline">
      Open trace
    </Link>
  );
}
