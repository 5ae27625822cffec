// The detail of a worker: its facts, its functions, and when it connected and left (WRK-1).

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { WorkerDetail } from '../../../api/registry.ts';
import { call, isNotFound } from '../../data/api.ts';
import { useLive } from '../../data/use-live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatDuration } from '../../kit/charts/times.ts';
import { EmptyState, Loading } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Status, WordStatus } from '../../kit/feedback/status.tsx';
import { TriggerIcon } from '../../kit/feedback/trigger-icon.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import { Card, Properties } from '../../kit/layout/page.tsx';
import { printTraceFilters, traceFilter } from '../traces/logic/trace-filters.ts';
import { ConfigWords } from '../triggers/columns.tsx';

export function WorkerPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['worker', id],
    queryFn: ({ signal }) => call('GET /workers/{id}', { parts: { id }, signal }),
    refetchInterval: 5_000,
  });
  useLive('registry', {
    items: (items) => {
      if ((items as readonly { id: string }[]).some((item) => item.id === id)) void refetch();
    },
  });
  return (
    <DetailPanel label={`Worker ${data?.name ?? id}`} title={visibleText(data?.name ?? id)} onClose={onClose}>
      {data === undefined && error === null && <Loading what="the worker" />}
      {data === undefined && isNotFound(error) && (
        <EmptyState title="No such worker">
          <p>It left more than an hour ago, or never existed. When it reconnects, it gets another id.</p>
          <Link to="/workers" search={{}} className="text-accent hover:underline">
            All workers
          </Link>
        </EmptyState>
      )}
      {data === undefined && error !== null && !isNotFound(error) && (
        <div className="p-3">
          <ErrorCard error={error} what="Reading the worker" retry={() => void refetch()} />
        </div>
      )}
      {data !== undefined && <WorkerProperties worker={data} />}
    </DetailPanel>
  );
}

function WorkerProperties({ worker }: { readonly worker: WorkerDetail }): ReactNode {
  const { metrics } = worker;
  const rows: [string, ReactNode][] = [
    ['State', <WordStatus key="state" word={worker.status} />],
    ['Id', <CopyId key="id" id={worker.id} what="worker id" />],
    ['Description', visibleText(worker.description ?? '–')],
    ['Language', visibleText(worker.runtime ?? '–')],
    ['SDK', visibleText(worker.version ?? '–')],
    ['System', visibleText(worker.os ?? '–')],
    ['Address', <code key="address">{worker.address ?? '–'}</code>],
    ['Process', worker.pid ?? '–'],
    ['Connected', <Time key="connected" ms={worker.connected_at} />],
    ['In flight', worker.in_flight],
    ['CPU', metrics.cpu_percent === null ? '–' : `${metrics.cpu_percent.toFixed(1)} %`],
    ['Memory', metrics.memory_bytes === null ? '–' : formatBytes(metrics.memory_bytes)],
    ['Loop delay', metrics.event_loop_delay_ms === null ? '–' : formatDuration(metrics.event_loop_delay_ms)],
  ];
  if (worker.engine !== undefined) rows.push(['Engine', <CopyId key="engine" id={worker.engine} what="engine id" />]);
  if (worker.disconnected_at !== null) rows.push(['Gone', <Time key="gone" ms={worker.disconnected_at} />]);
  return (
    <div className="flex flex-col gap-3 p-3">
      <Properties rows={rows} />
      <div className="flex gap-4">
        <Link
          to="/traces"
          search={{ f: printTraceFilters([traceFilter('service', worker.name)]) }}
          className="text-accent hover:underline"
        >
          Its traces
        </Link>
        <Link
          to="/logs"
          search={{ q: `worker=${JSON.stringify(worker.name)}` }}
          className="text-accent hover:underline"
        >
          Its logs
        </Link>
      </div>
      <Offers worker={worker} />
      <Card title="The last hour" flush>
        <ul>
          {worker.history.map(({ at, event, worker_id }) => (
            <li
              key={`${at} ${event}`}
              className="flex min-h-8 items-center gap-3 border-b border-line px-3 last:border-0"
            >
              <Status
                tone={event === 'connected' ? 'good' : 'bad'}
                word={event === 'connected' ? 'Connected' : 'Disconnected'}
              />
              <CopyId id={worker_id} what="worker id" className="flex-1 text-muted" />
              <Time ms={at} className="text-muted" />
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

function Offers({ worker }: { readonly worker: WorkerDetail }): ReactNode {
  return (
    <>
      <Card title={`Functions ${worker.function_rows.length}`} flush>
        <ul className="max-h-72 overflow-y-auto">
          {worker.function_rows.map(({ function_id, status }) => (
            <li key={function_id} className="flex min-h-8 items-center gap-3 border-b border-line px-3 last:border-0">
              <CopyId
                id={function_id}
                what="function id"
                to="/functions"
                search={{ id: function_id }}
                className="flex-1"
              />
              <WordStatus word={status} />
            </li>
          ))}
        </ul>
      </Card>
      {worker.triggers.length > 0 && (
        <Card title={`Triggers ${worker.triggers.length}`} flush>
          <ul className="max-h-72 overflow-y-auto">
            {worker.triggers.map((trigger) => (
              <li key={trigger.id} className="flex min-h-8 items-center gap-3 border-b border-line px-3 last:border-0">
                <TriggerIcon type={trigger.trigger_type} />
                <Link
                  to="/triggers"
                  search={{ id: trigger.id }}
                  className="flex min-w-0 flex-1 text-accent hover:underline"
                >
                  <ConfigWords row={trigger} />
                </Link>
                <WordStatus word={trigger.status} title={trigger.reason ?? undefined} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}
