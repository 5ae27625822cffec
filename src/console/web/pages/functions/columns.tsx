// The columns of the Functions table.

import type { FunctionFigures, FunctionRow } from '../../../../console-api/registry.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatDuration, formatRate, formatShare } from '../../kit/charts/times.ts';
import { TriggerIcons } from '../../kit/charts/trigger-icon.tsx';
import { Badge, WordStatus } from '../../kit/feedback/status.tsx';
import { CopyId } from '../../kit/inputs/copy-id.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import type { Column } from '../../kit/table/column.ts';

const NONE = <span className="text-faint">–</span>;

function figure(
  id: string,
  header: string,
  read: (figures: FunctionFigures) => number | null,
  write: (value: number) => string,
  sort?: string,
): Column<FunctionRow> {
  return {
    id,
    header,
    width: 92,
    align: 'right',
    optional: id !== 'calls_per_minute' && id !== 'error_rate' && id !== 'p95_ms',
    ...(sort !== undefined && { sort }),
    text: ({ figures }) => (figures === null ? null : read(figures)),
    cell: ({ figures }) => {
      const value = figures === null ? null : read(figures);
      if (value === null) return NONE;
      return <span className={id === 'error_rate' && value > 0 ? 'text-bad' : undefined}>{write(value)}</span>;
    },
  };
}

function moment(id: string, header: string, read: (figures: FunctionFigures) => number | null): Column<FunctionRow> {
  return {
    id,
    header,
    width: 110,
    optional: true,
    text: ({ figures }) => (figures === null ? null : read(figures)),
    cell: ({ figures }) => {
      const ms = figures === null ? null : read(figures);
      return ms === null ? NONE : <Time ms={ms} />;
    },
  };
}

export const COLUMNS: readonly Column<FunctionRow>[] = [
  {
    id: 'function_id',
    header: 'Function ID',
    width: 220,
    grow: 3,
    sort: 'id',
    cell: ({ function_id, internal }) => (
      <>
        <CopyId id={function_id} what="function id" className="text-text" />
        {internal && <Badge>internal</Badge>}
      </>
    ),
    text: ({ function_id }) => function_id,
  },
  {
    id: 'triggers',
    header: 'Triggers',
    width: 110,
    sort: 'triggers',
    cell: ({ triggers }) => (triggers.count === 0 ? NONE : <TriggerIcons {...triggers} />),
    text: ({ triggers }) => triggers.count,
  },
  {
    id: 'workers',
    header: 'Workers',
    width: 140,
    grow: 1,
    sort: 'worker',
    cell: ({ workers, worker_name }) => (
      <span className="truncate text-muted">
        {visibleText(worker_name)}
        {workers.length > 1 && ` ×${workers.length}`}
      </span>
    ),
    text: ({ workers }) => workers.map(({ name }) => name).join(' '),
  },
  {
    id: 'status',
    header: 'Status',
    width: 104,
    keeps: true,
    cell: ({ status }) => <WordStatus word={status} />,
    text: ({ status }) => status,
  },
  figure('calls_per_minute', 'Calls/min', (figures) => figures.calls_per_minute, formatRate, 'calls'),
  figure('error_rate', 'Errors', (figures) => figures.error_rate, formatShare, 'errors'),
  figure('p95_ms', 'p95', (figures) => figures.p95_ms, formatDuration, 'p95'),
  moment('last_call_at', 'Last call', (figures) => figures.last_call_at),
  moment('last_error_at', 'Last error', (figures) => figures.last_error_at),
  {
    id: 'description',
    header: 'Description',
    width: 200,
    grow: 1,
    optional: true,
    cell: ({ description }) => <span className="truncate text-muted">{visibleText(description ?? '')}</span>,
    text: ({ description }) => description,
  },
];
