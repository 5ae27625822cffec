// Columns of the trace list (TRC-1).

import type { ReactNode } from 'react';
import type { TraceRow } from '../../../../api/telemetry.ts';
import { Time, useNow } from '../../../kit/charts/time.tsx';
import { formatCount, formatCountOf, formatDuration } from '../../../kit/charts/times.ts';
import { WordStatus } from '../../../kit/feedback/status.tsx';
import { CopyId } from '../../../kit/inputs/copy.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import type { Column } from '../../../kit/table/column.ts';
import { spanWords } from '../logic/span-words.ts';

export function traceColumns(longestMs: number): readonly Column<TraceRow>[] {
  return [
    {
      id: 'start',
      header: 'Start',
      width: 110,
      sort: 'start_time',
      cell: ({ start_time_unix_nano: nano }) => <Time ms={nano / 1e6} nanos={BigInt(Math.round(nano)).toString()} />,
      text: ({ start_time_unix_nano: nano }) => BigInt(Math.round(nano)).toString(),
    },
    {
      id: 'name',
      header: 'Root span',
      width: 260,
      grow: 3,
      sort: 'name',
      cell: ({ name }) => <span className="truncate whitespace-pre">{visibleText(spanWords(name, true))}</span>,
      text: ({ name }) => name,
    },
    {
      id: 'service',
      header: 'Service',
      width: 150,
      cell: serviceCell,
      text: ({ service_name: service }) => service,
    },
    {
      id: 'status',
      header: 'Status',
      width: 120,
      keeps: true,
      cell: statusCell,
      text: ({ status }) => status,
    },
    {
      id: 'duration',
      header: 'Duration',
      width: 190,
      sort: 'duration',
      cell: (row) => <DurationBar row={row} longestMs={longestMs} />,
      text: ({ duration_ms: ms }) => ms,
    },
    {
      id: 'spans',
      header: 'Spans',
      width: 76,
      align: 'right',
      cell: ({ span_count: count }) => formatCount(count),
      text: ({ span_count: count }) => count,
    },
    {
      id: 'trace_id',
      header: 'Trace ID',
      width: 190,
      cell: ({ trace_id: id }) => <CopyId id={id} what="trace id" to={`/traces/${id}`} />,
      text: ({ trace_id: id }) => id,
    },
  ];
}

function statusCell({ status, error_count: errors }: TraceRow): ReactNode {
  return (
    <>
      <WordStatus
        word={status === 'ok' ? 'OK' : status}
        title={errors > 0 ? `${formatCountOf(errors, 'span')} failed` : undefined}
      />
      {errors > 1 && <span className="text-xs text-bad">×{formatCount(errors)}</span>}
    </>
  );
}

function serviceCell({ service_name: service, services }: TraceRow): ReactNode {
  return (
    <span className="truncate" title={services.map(visibleText).join(', ')}>
      {visibleText(service)}
      {services.length > 1 && <span className="text-faint"> +{services.length - 1}</span>}
    </span>
  );
}

function DurationBar({ row, longestMs }: { readonly row: TraceRow; readonly longestMs: number }): ReactNode {
  if (row.status === 'pending') return <SoFar row={row} />;
  const share = longestMs === 0 ? 0 : row.duration_ms / longestMs;
  return (
    <>
      <span className="w-16 shrink-0 text-right">{formatDuration(row.duration_ms)}</span>
      <span aria-hidden className="h-1.5 min-w-0 flex-1 rounded-full bg-raised">
        <span
          className={`block h-full min-w-[2px] rounded-full ${row.status === 'error' ? 'bg-bad' : 'bg-accent-fill'}`}
          style={{ width: `${share * 100}%` }}
        />
      </span>
    </>
  );
}

function SoFar({ row }: { readonly row: TraceRow }): ReactNode {
  const nowMs = useNow();
  const ms = Math.max(row.duration_ms, nowMs - row.start_time_unix_nano / 1e6);
  return <span className="text-muted">{formatDuration(ms)} so far</span>;
}
