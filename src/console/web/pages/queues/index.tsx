// The Queues page: every queue with its counts, and one queue with its jobs and dead letters (QUE-1 to QUE-4).

import { RotateCcw } from 'lucide-react';
import { type ReactNode, useCallback, useState } from 'react';
import type { QueueRow } from '../../../api/queues.ts';
import { call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import type { ListState } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { useTimeRange } from '../../data/time-range.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading, NoSearchMatch, Snippet } from '../../kit/feedback/empty-state.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { FilterBar } from '../../kit/inputs/filter-bar.tsx';
import { CountedNote, TimeRangeControl } from '../../kit/inputs/time-range.tsx';
import { Page } from '../../kit/layout/page.tsx';
import { Table } from '../../kit/table/table.tsx';
import { BulkDialog, BulkProgress } from './bulk.tsx';
import { COLUMNS } from './columns.tsx';
import { HeldBackNote } from './held-back.tsx';
import { useJobCounts } from './job-counts.tsx';
import { JobPanel } from './job-panel.tsx';
import { QueuePage } from './queue-page.tsx';
import { NO_JOB_FILTER, QUEUES_SEARCH } from './search.ts';
import { useQueues } from './use-queues.ts';

export default function Queues(): ReactNode {
  const { search } = usePageSearch(QUEUES_SEARCH);
  return search.queue === undefined ? <AllQueues /> : <QueuePage key={search.queue} name={search.queue} />;
}

function AllQueues(): ReactNode {
  const { search, setSearch } = usePageSearch(QUEUES_SEARCH);
  const list = useQueues(search);
  const counts = useJobCounts();
  const { range } = useTimeRange();
  const setQ = useCallback((q: string) => setSearch({ q }), [setSearch]);
  const dead = list.items?.reduce((sum, row) => sum + row.dead, 0) ?? 0;
  return (
    <Page
      title="Queues"
      note={list.total === null ? undefined : formatCount(list.total)}
      actions={
        <>
          <RedriveEverything dead={dead} />
          <TimeRangeControl />
        </>
      }
      toolbar={<FilterBar label="Search queues" value={search.q} onChange={setQ} />}
      detail={
        search.id === undefined ? undefined : (
          <JobPanel key={search.id} queue={undefined} id={search.id} onClose={() => setSearch({ id: undefined })} />
        )
      }
    >
      <div className="flex h-full min-h-0 flex-col">
        <HeldBackNote reasons={list.items?.map((row) => row.held_back) ?? []} />
        <BulkProgress />
        <CountedNote what="Attempts" range={range} sinceMs={counts?.since_ms ?? null} />
        <div className="min-h-0 flex-1">
          <QueueList list={list} />
        </div>
      </div>
    </Page>
  );
}

function RedriveEverything({ dead }: { readonly dead: number }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  if (useReadOnly() || dead === 0) return undefined;
  return (
    <>
      <Button icon={<RotateCcw size={13} />} onClick={() => setAsking(true)}>
        Redrive all queues
      </Button>
      {isAsking && (
        <BulkDialog
          verb="redrive"
          queue="*"
          target={{ kind: 'filter', filter: {}, count: dead }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

const CONFIGURED = `workers:
  - name: svc-queue
    config:
      queue_configs:
        mail: {max_retries: 5, concurrency: 10, backoff_ms: 2000}`;

function QueueList({ list }: { readonly list: ListState<QueueRow> }): ReactNode {
  const { search, setSearch } = usePageSearch(QUEUES_SEARCH);
  if (list.items === undefined) {
    if (list.error === null) return <Loading what="the queues" />;
    return <FailedState error={list.error} what="Queues" shows="every queue" retry={list.refetch} />;
  }
  if (list.items.length === 0) {
    if (search.q !== '') {
      return (
        <NoSearchMatch
          what="queues"
          total={(signal) => call('GET /queues', { query: { limit: 1 }, signal })}
          q={search.q}
          clear={() => setSearch({ q: '' })}
        />
      );
    }
    return (
      <EmptyState title="No queue yet">
        <p>Name queues in the configuration of the engine. A topic gets a queue for each subscribed function:</p>
        <Snippet text={CONFIGURED} label="configuration" />
      </EmptyState>
    );
  }
  return (
    <Table
      name="queues"
      label="Queues"
      columns={COLUMNS}
      rows={list.items}
      keyOf={keyOf}
      sort={{
        by: search.sort,
        order: search.order,
        onSort: (by, order) => setSearch({ sort: QUEUES_SEARCH.sort.read([by]) ?? 'trouble', order }),
      }}
      onOpen={({ name, dead }) =>
        setSearch({ queue: name, tab: dead > 0 ? 'dead' : 'jobs', ...NO_JOB_FILTER, id: undefined }, { push: true })
      }
      total={list.total}
      onNearEnd={list.more}
    />
  );
}

const keyOf = ({ name }: QueueRow): string => name;
