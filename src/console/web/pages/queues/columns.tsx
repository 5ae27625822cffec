// The columns of the table of queues.

import type { ReactNode } from 'react';
import type { QueueRow } from '../../../api/queues.ts';
import { useStore } from '../../data/store.ts';
import { Sparkline } from '../../kit/charts/sparkline.tsx';
import { formatCount, formatRate, formatSpan } from '../../kit/charts/times.ts';
import { Badge } from '../../kit/feedback/status.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import type { Column } from '../../kit/table/column.ts';
import { jobCounts } from './job-counts.tsx';
import { secretOf } from './logic/queue-state.ts';
import { depths } from './use-queues.ts';

const NONE = <span className="text-faint">–</span>;

type Figure = 'waiting' | 'running' | 'retrying' | 'delayed' | 'waiting_for_worker' | 'dead';

function figure(id: Figure, header: string, sort?: string): Column<QueueRow> {
  return {
    id,
    header,
    width: 88,
    align: 'right',
    optional: id === 'delayed' || id === 'waiting_for_worker',
    keeps: id === 'waiting' || id === 'dead',
    ...(sort !== undefined && { sort }),
    text: (row) => row[id],
    cell: (row) => <Count id={id} row={row} />,
  };
}

function Count({ id, row }: { readonly id: Figure; readonly row: QueueRow }): ReactNode {
  const count = row[id];
  if (count === null) return <span title={secretOf(row, 'waits')}>{NONE}</span>;
  if (count === 0) return <span className="text-faint">0</span>;
  const colour = id === 'dead' ? 'font-medium text-bad' : id === 'retrying' ? 'text-warn' : undefined;
  return <span className={colour}>{formatCount(count)}</span>;
}

function rate(id: 'in_per_s' | 'out_per_s', header: string): Column<QueueRow> {
  return {
    id,
    header,
    width: 72,
    align: 'right',
    text: (row) => row[id],
    cell: (row) => formatRate(row[id]),
  };
}

/** Over the time range. */
function counted(id: 'attempts' | 'failed', header: string): Column<QueueRow> {
  return {
    id,
    header,
    width: 84,
    align: 'right',
    text: ({ name }) => jobCounts.get()?.get(name)?.[id] ?? null,
    cell: ({ name }) => <Counted id={id} name={name} />,
  };
}

function Counted({ id, name }: { readonly id: 'attempts' | 'failed'; readonly name: string }): ReactNode {
  const counts = useStore(jobCounts);
  if (counts === undefined) return NONE;
  const count = counts.get(name)?.[id] ?? 0;
  if (count === 0) return <span className="text-faint">0</span>;
  return <span className={id === 'failed' ? 'text-bad' : undefined}>{formatCount(count)}</span>;
}

export const COLUMNS: readonly Column<QueueRow>[] = [
  {
    id: 'name',
    header: 'Queue',
    width: 180,
    grow: 3,
    sort: 'name',
    text: ({ name }) => name,
    cell: ({ name, paused }) => (
      <>
        <CopyId id={name} what="queue name" className="text-text" />
        {paused && <Badge tone="warn">paused</Badge>}
      </>
    ),
  },
  { id: 'type', header: 'Type', width: 92, text: ({ type }) => type, cell: ({ type }) => <Badge>{type}</Badge> },
  figure('waiting', 'Waiting', 'waiting'),
  figure('running', 'Running', 'running'),
  figure('retrying', 'Retrying'),
  figure('delayed', 'Delayed'),
  figure('waiting_for_worker', 'No worker'),
  figure('dead', 'Dead', 'dead'),
  rate('in_per_s', 'In/s'),
  rate('out_per_s', 'Out/s'),
  counted('attempts', 'Attempts'),
  counted('failed', 'Failed'),
  {
    id: 'oldest_waiting_ms',
    header: 'Oldest',
    width: 88,
    align: 'right',
    text: ({ oldest_waiting_ms: oldest }) => oldest,
    cell: (row) =>
      row.oldest_waiting_ms === null ? (
        <span title={secretOf(row, 'jobs')}>{NONE}</span>
      ) : (
        formatSpan(row.oldest_waiting_ms)
      ),
  },
  {
    id: 'concurrency',
    header: 'Used',
    width: 80,
    align: 'right',
    text: ({ concurrency }) => concurrency,
    cell: ({ running, concurrency }) =>
      concurrency === null ? NONE : `${formatCount(running)} of ${formatCount(concurrency)}`,
  },
  {
    id: 'depth',
    header: 'Depth, 1 min',
    width: 112,
    text: () => null,
    cell: ({ name }) => <DepthLine name={name} />,
  },
  {
    id: 'adapter',
    header: 'Adapter',
    width: 100,
    text: ({ adapter }) => adapter,
    cell: ({ adapter }) => <span className="truncate text-muted">{adapter}</span>,
  },
  {
    id: 'subscribers',
    header: 'Subscribers',
    width: 96,
    align: 'right',
    optional: true,
    text: ({ subscribers }) => subscribers,
    cell: ({ subscribers }) => formatCount(subscribers),
  },
];

function DepthLine({ name }: { readonly name: string }): ReactNode {
  const values = useStore(depths).get(name) ?? [];
  return <Sparkline values={values} label="" width={88} />;
}
