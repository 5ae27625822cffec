// The logs of an open trace, and their position on its time axis (TRC-5).

import { useQuery } from '@tanstack/react-query';
import type { LogRow } from '../../../../../console-api/telemetry.ts';
import { call } from '../../../data/api.ts';
import type { TraceView } from '../logic/trace-session.ts';

/** The logs of the trace. Without a log store there are none, which is not an error. */
export function useTraceLogs(traceId: string | undefined, isRunning: boolean): readonly LogRow[] {
  const { data } = useQuery({
    queryKey: ['trace-logs', traceId],
    queryFn: ({ signal }) =>
      call('POST /logs/search', { body: { trace_id: traceId ?? '', limit: 1_000, order: 'asc' }, signal }),
    enabled: traceId !== undefined,
    retry: false,
    refetchInterval: isRunning ? 2_000 : false,
  });
  return data?.items ?? NO_LOGS;
}

const NO_LOGS: readonly LogRow[] = [];

export function logDots({ columns }: TraceView, logs: readonly LogRow[]): { row: number; ms: number }[] {
  if (logs.length === 0) return [];
  const rowOf = new Map(columns.ids.map((id, row) => [id, row]));
  return logs.flatMap((log) => {
    const row = log.span_id === null ? undefined : rowOf.get(log.span_id);
    return row === undefined ? [] : [{ row, ms: (log.timestamp_unix_nano - columns.startUnixNano) / 1e6 }];
  });
}
