// The columns of the Workers table.

import type { ReactNode } from 'react';
import type { WorkerRow } from '../../../../console-api/registry.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatCount, formatDuration } from '../../kit/charts/times.ts';
import { Badge, WordStatus } from '../../kit/feedback/status.tsx';
import { CopyId } from '../../kit/inputs/copy-id.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import type { Column } from '../../kit/table/column.ts';

const NONE = <span className="text-faint">–</span>;

function shown<T>(value: T | null, write: (value: T) => ReactNode): ReactNode {
  return value === null ? NONE : <span className="truncate">{write(value)}</span>;
}

type WorkerColumn = Column<WorkerRow>;

function figure(
  id: string,
  header: string,
  width: number,
  rest: Pick<WorkerColumn, 'cell' | 'text' | 'sort'>,
): WorkerColumn {
  return { id, header, width, align: 'right', ...rest };
}

/** The columns that show the state of a worker come first: a phone has room for little else. */
export const COLUMNS: readonly WorkerColumn[] = [
  {
    id: 'name',
    header: 'Name',
    width: 150,
    grow: 2,
    sort: 'name',
    cell: ({ name, internal }) => (
      <>
        <span className="truncate font-medium">{visibleText(name)}</span>
        {internal && <Badge>module</Badge>}
      </>
    ),
    text: ({ name }) => name,
  },
  {
    id: 'status',
    header: 'State',
    width: 116,
    sort: 'status',
    cell: ({ status }) => <WordStatus word={status} />,
    text: ({ status }) => status,
  },
  figure('functions', 'Functions', 84, {
    sort: 'functions',
    cell: ({ functions }) => formatCount(functions.length),
    text: ({ functions }) => functions.length,
  }),
  figure('in_flight', 'In flight', 78, {
    sort: 'in_flight',
    cell: ({ in_flight }) => formatCount(in_flight),
    text: ({ in_flight }) => in_flight,
  }),
  figure('cpu', 'CPU', 68, {
    cell: ({ metrics }) => shown(metrics.cpu_percent, (share) => `${share.toFixed(1)} %`),
    text: ({ metrics }) => metrics.cpu_percent,
  }),
  figure('memory', 'Memory', 84, {
    cell: ({ metrics }) => shown(metrics.memory_bytes, formatBytes),
    text: ({ metrics }) => metrics.memory_bytes,
  }),
  figure('delay', 'Loop delay', 88, {
    cell: ({ metrics }) => shown(metrics.event_loop_delay_ms, formatDuration),
    text: ({ metrics }) => metrics.event_loop_delay_ms,
  }),
  figure('reconnects', 'Reconnects', 92, {
    cell: ({ reconnects }) => (
      <span className={reconnects > 0 ? 'text-warn' : undefined}>{formatCount(reconnects)}</span>
    ),
    text: ({ reconnects }) => reconnects,
  }),
  {
    id: 'connected_at',
    header: 'Connected',
    width: 100,
    sort: 'connected_at',
    cell: ({ connected_at }) => <Time ms={connected_at} />,
    text: ({ connected_at }) => connected_at,
  },
  {
    id: 'runtime',
    header: 'Language, SDK',
    width: 118,
    cell: ({ runtime, version }) =>
      shown(runtime, (word) =>
        [word, version]
          .filter(Boolean)
          .map((part) => visibleText(part ?? ''))
          .join(' · '),
      ),
    text: ({ runtime, version }) => [runtime, version].filter(Boolean).join(' '),
  },
  {
    id: 'address',
    header: 'Address',
    width: 112,
    cell: ({ address }) => shown(address, (text) => <span className="font-mono text-muted">{text}</span>),
    text: ({ address }) => address,
  },
  {
    id: 'id',
    header: 'Worker ID',
    width: 176,
    cell: ({ id }) => <CopyId id={id} what="worker id" className="text-muted" />,
    text: ({ id }) => id,
  },
];
