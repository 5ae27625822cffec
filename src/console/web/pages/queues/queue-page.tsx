// One queue: its counts, its jobs, its dead letters, and a test job (QUE-2 to QUE-4).

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { JobChange } from '../../../api/live.ts';
import type { QueueDetail } from '../../../api/queues.ts';
import { call, isNotFound } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { refetchSoon } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { useLive } from '../../data/use-live.ts';
import { formatCount, formatDuration, formatSpan } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading } from '../../kit/feedback/empty-state.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { toast } from '../../kit/feedback/toast.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { TimeRangeControl } from '../../kit/inputs/time-range.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import { Page } from '../../kit/layout/page.tsx';
import { type Tab, Tabs } from '../../kit/layout/tabs.tsx';
import { BulkProgress } from './bulk.tsx';
import { GroupsTab } from './groups-tab.tsx';
import { HeldBack } from './held-back.tsx';
import { JobCharts } from './job-counts.tsx';
import { JobList } from './job-list.tsx';
import { JobPanel } from './job-panel.tsx';
import { secretOf } from './logic/queue-state.ts';
import { PublishTab } from './publish-tab.tsx';
import { NO_JOB_FILTER, QUEUES_SEARCH, type QueueTab } from './search.ts';

export function QueuePage({ name }: { readonly name: string }): ReactNode {
  const { search, setSearch } = usePageSearch(QUEUES_SEARCH);
  const { queue, error, refetch } = useQueue(name);
  return (
    <Page
      title={visibleText(name)}
      note={
        <Link to="/queues" className="text-accent hover:underline">
          All queues
        </Link>
      }
      actions={
        queue !== undefined && (
          <>
            <PauseButton queue={queue} />
            <TimeRangeControl />
          </>
        )
      }
      toolbar={queue !== undefined && <Figures queue={queue} />}
      detail={
        search.id === undefined ? undefined : (
          <JobPanel
            key={search.id}
            queue={name}
            id={search.id}
            onClose={() => setSearch({ id: undefined }, { push: true })}
          />
        )
      }
    >
      {queue === undefined && error === null && <Loading what="the queue" />}
      {queue === undefined && error !== null && <NoQueue name={name} error={error} retry={refetch} />}
      {queue !== undefined && <QueueTabs queue={queue} />}
    </Page>
  );
}

function QueueTabs({ queue }: { readonly queue: QueueDetail }): ReactNode {
  const { search, setSearch } = usePageSearch(QUEUES_SEARCH);
  const isReadOnly = useReadOnly();
  const tabs: Tab<QueueTab>[] = [
    { id: 'jobs', label: 'Jobs' },
    { id: 'dead', label: 'Dead letters', count: queue.dead },
  ];
  if (queue.type === 'fifo') tabs.splice(1, 0, { id: 'groups', label: 'Groups' });
  if (!isReadOnly) tabs.push({ id: 'publish', label: 'Publish' });
  return (
    <div className="flex h-full min-h-0 flex-col">
      <BulkProgress />
      <JobCharts queue={queue.name} />
      <Tabs
        label="Queue"
        tabs={tabs}
        value={search.tab}
        onChange={(tab) => setSearch({ tab, ...NO_JOB_FILTER, state: 'all', id: undefined })}
      >
        <TabContent tab={search.tab} queue={queue} />
      </Tabs>
    </div>
  );
}

function TabContent({ tab, queue }: { readonly tab: QueueTab; readonly queue: QueueDetail }): ReactNode {
  if (tab === 'publish') return <PublishTab queue={queue} />;
  const secret = tab === 'groups' ? secretOf(queue, 'groups') : tab === 'jobs' ? secretOf(queue, 'jobs') : undefined;
  if (secret !== undefined) return <NotListed secret={secret} what={tab === 'groups' ? 'groups' : 'jobs'} />;
  if (tab === 'groups') return <GroupsTab queue={queue} />;
  return <JobList key={tab} queue={queue} isDead={tab === 'dead'} />;
}

function NotListed({ secret, what }: { readonly secret: string; readonly what: string }): ReactNode {
  return (
    <EmptyState title={`The ${what} of this queue are not listed`}>
      <p>{secret}</p>
      <p>The counts above are correct, and dead letters are listed one by one.</p>
    </EmptyState>
  );
}

function useQueue(name: string): {
  readonly queue: QueueDetail | undefined;
  readonly error: unknown;
  readonly refetch: () => void;
} {
  const client = useQueryClient();
  const key = ['queue', name];
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call('GET /queues/{queue}', { parts: { queue: name }, signal }),
    // Counts may change without a followed job: the jobs far from the head are not followed.
    refetchInterval: 5_000,
  });
  useLive(`queue:${encodeURIComponent(name)}`, {
    items: (items) => {
      const { figures } = items.at(-1) as JobChange;
      client.setQueryData<QueueDetail>(key, (now) => (now === undefined ? now : { ...now, ...figures }));
      refetchSoon(['jobs', name]);
      refetchSoon(['dead-groups', name]);
      refetchSoon(['groups', name]);
    },
    back: () => {
      void refetch();
      refetchSoon(['jobs', name]);
      refetchSoon(['groups', name]);
    },
  });
  return { queue: data, error, refetch: () => void refetch() };
}

function NoQueue({
  name,
  error,
  retry,
}: {
  readonly name: string;
  readonly error: unknown;
  readonly retry: () => void;
}): ReactNode {
  if (isNotFound(error)) {
    return (
      <EmptyState title="No such queue">
        <p>
          <code className="break-all text-text">{visibleText(name)}</code> is not in <code>queue_configs</code>, and no
          topic has that name.
        </p>
        <Link to="/queues" search={{}} className="text-accent hover:underline">
          All queues
        </Link>
      </EmptyState>
    );
  }
  return <FailedState error={error} what="Queues" shows="the jobs of this queue" retry={retry} />;
}

function countOf(count: number | null): string {
  return count === null ? '–' : formatCount(count);
}

function Figures({ queue }: { readonly queue: QueueDetail }): ReactNode {
  const waits = secretOf(queue, 'waits');
  const figures: readonly (readonly [
    label: string,
    value: string,
    colour?: string | false,
    title?: string | undefined,
  ])[] = [
    ['Waiting', formatCount(queue.waiting)],
    [
      'Running',
      queue.concurrency === null ? formatCount(queue.running) : `${formatCount(queue.running)} of ${queue.concurrency}`,
    ],
    ['Retrying', countOf(queue.retrying), (queue.retrying ?? 0) > 0 && 'text-warn', waits],
    ['Delayed', countOf(queue.delayed), false, waits],
    ['No worker', formatCount(queue.waiting_for_worker), queue.waiting_for_worker > 0 && 'text-warn'],
    ['Dead', formatCount(queue.dead), queue.dead > 0 && 'text-bad'],
    [
      'Oldest',
      queue.oldest_waiting_ms === null ? '–' : formatSpan(queue.oldest_waiting_ms),
      false,
      secretOf(queue, 'jobs'),
    ],
  ];
  const rules = [
    queue.type,
    queue.adapter,
    queue.max_retries !== null && `${queue.max_retries} ${queue.max_retries === 1 ? 'retry' : 'retries'}`,
    queue.backoff_ms !== null && `backoff ${formatDuration(queue.backoff_ms)}`,
    queue.message_group_field !== null && `groups by ${queue.message_group_field}`,
  ].filter((rule) => rule !== false);
  return (
    <>
      <dl className="flex flex-wrap gap-x-5 gap-y-1">
        {figures.map(([label, value, colour, title]) => (
          <div key={label} title={title} className="flex items-baseline gap-1.5">
            <dt className="text-sm text-muted">{label}</dt>
            <dd className={classes('font-medium tabular-nums', colour)}>{value}</dd>
          </div>
        ))}
      </dl>
      <div className="flex flex-1 flex-wrap justify-end gap-1 max-sm:justify-start">
        {queue.paused && <Badge tone="warn">paused</Badge>}
        <HeldBack reason={queue.held_back} />
        {rules.map((rule) => (
          <Badge key={rule}>{visibleText(rule)}</Badge>
        ))}
      </div>
    </>
  );
}

function PauseButton({ queue }: { readonly queue: QueueDetail }): ReactNode {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  if (useReadOnly()) return undefined;
  const verb = queue.paused ? 'resume' : 'pause';
  const change = async (): Promise<void> => {
    setBusy(true);
    try {
      const { paused } = await call(`POST /queues/{queue}/${verb}`, { parts: { queue: queue.name }, body: {} });
      client.setQueryData<QueueDetail>(['queue', queue.name], (now) => (now === undefined ? now : { ...now, paused }));
    } catch (thrown) {
      toast({ tone: 'bad', text: thrown instanceof Error ? thrown.message : String(thrown) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button
      icon={queue.paused ? <Play size={13} /> : <Pause size={13} />}
      disabled={isBusy}
      onClick={() => void change()}
    >
      {queue.paused ? 'Resume' : 'Pause'}
    </Button>
  );
}
