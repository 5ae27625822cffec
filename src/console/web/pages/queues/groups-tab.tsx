// The groups of a FIFO queue: the head of each, and why it waits (QUE-4).

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import type { QueueDetail, QueueGroup } from '../../../api/queues.ts';
import { call } from '../../data/api.ts';
import { usePageSearch } from '../../data/search.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatCount } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading } from '../../kit/feedback/empty-state.tsx';
import { WordStatus } from '../../kit/feedback/status.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import type { Column } from '../../kit/table/column.ts';
import { Table } from '../../kit/table/table.tsx';
import { stateWord } from './job-columns.tsx';
import { whyWaits } from './logic/queue-state.ts';
import { QUEUES_SEARCH } from './search.ts';

export function GroupsTab({ queue }: { readonly queue: QueueDetail }): ReactNode {
  const { search, setSearch } = usePageSearch(QUEUES_SEARCH);
  const { data, error, refetch } = useQuery({
    queryKey: ['groups', queue.name],
    queryFn: ({ signal }) => call('GET /queues/{queue}/groups', { parts: { queue: queue.name }, signal }),
    // Jobs far from the head of the queue are not reported.
    refetchInterval: 5_000,
  });
  const columns = useMemo(() => columnsOf(queue), [queue]);
  if (data === undefined) {
    if (error === null) return <Loading what="the groups" />;
    return (
      <FailedState error={error} what="The groups" shows="what each group waits for" retry={() => void refetch()} />
    );
  }
  if (data.groups.length === 0) {
    return (
      <EmptyState title="No group waits">
        <p>A group is listed while it has jobs. They run in order: only the first can run.</p>
      </EmptyState>
    );
  }
  return (
    <Table<QueueGroup>
      name="queue-groups"
      label="Groups"
      columns={columns}
      rows={data.groups}
      keyOf={keyOf}
      openKey={search.id}
      onOpen={({ head }) => setSearch({ id: head.id }, { push: true })}
      foot={data.has_more ? 'More groups have jobs than are listed here.' : undefined}
    />
  );
}

const keyOf = ({ head }: QueueGroup): string => head.id;

function columnsOf(queue: QueueDetail): readonly Column<QueueGroup>[] {
  return [
    {
      id: 'value',
      header: queue.message_group_field ?? 'Group',
      width: 160,
      grow: 1,
      text: ({ value }) => value,
      cell: ({ value }) => <span className="truncate font-mono">{value === null ? 'all' : visibleText(value)}</span>,
    },
    {
      id: 'jobs',
      header: 'Jobs',
      width: 70,
      align: 'right',
      text: ({ jobs }) => jobs,
      cell: ({ jobs }) => formatCount(jobs),
    },
    {
      id: 'state',
      header: 'State of its head',
      width: 150,
      text: ({ head }) => head.state,
      cell: ({ head }) => <WordStatus word={stateWord(head.state)} />,
    },
    {
      id: 'why',
      header: 'Why it waits',
      width: 300,
      grow: 3,
      text: ({ head }) => whyWaits(head, queue).words,
      cell: ({ head }) => <Why queue={queue} head={head} />,
    },
    {
      id: 'head',
      header: 'Head',
      width: 190,
      grow: 1,
      text: ({ head }) => head.id,
      cell: ({ head }) => <CopyId id={head.id} what="receipt" className="text-text" />,
    },
    {
      id: 'enqueued_at',
      header: 'Enqueued',
      width: 120,
      text: ({ head }) => head.enqueued_at,
      cell: ({ head }) => <Time ms={head.enqueued_at} />,
    },
    {
      id: 'error',
      header: 'Last error',
      width: 200,
      grow: 2,
      optional: true,
      text: ({ head }) => head.error,
      cell: ({ head: { error } }) => error !== null && <span className="truncate text-bad">{visibleText(error)}</span>,
    },
  ];
}

function Why({ queue, head }: { readonly queue: QueueDetail; readonly head: QueueGroup['head'] }): ReactNode {
  const { words, untilMs } = whyWaits(head, queue);
  return (
    <span className="flex min-w-0 gap-1.5">
      <span className="truncate">{visibleText(words)}</span>
      {untilMs !== null && <Time ms={untilMs} />}
    </span>
  );
}
