// The detail of a function: call it, inspect it, and open related objects (FUN-3 to FUN-8).

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { FunctionDetail } from '../../../api/registry.ts';
import { ApiError, call } from '../../data/api.ts';
import { boundsOf, useTimeRange } from '../../data/time-range.ts';
import { useLive } from '../../data/use-live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { EmptyState, Loading } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Shape } from '../../kit/feedback/status.tsx';
import { MiddleCut } from '../../kit/inputs/copy.tsx';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import { type Tab, Tabs } from '../../kit/layout/tabs.tsx';
import { CodeTab, LogsTab, OverviewTab, SchemaTab, TriggersTab, WorkersTab } from './detail-tabs.tsx';
import { InvokeTab } from './invoke-tab.tsx';
import { RunsTab } from './runs-tab.tsx';
import type { FunctionTab } from './search.ts';

export interface FunctionDetailProps {
  readonly id: string;
  readonly tab: FunctionTab;
  readonly setTab: (tab: FunctionTab) => void;
  readonly onClose: () => void;
}

export function FunctionDetailPanel({ id, tab, setTab, onClose }: FunctionDetailProps): ReactNode {
  const { detail, goneSinceMs, error, refetch } = useFunction(id);
  const tabs: readonly Tab<FunctionTab>[] = [
    { id: 'invoke', label: 'Invoke' },
    { id: 'overview', label: 'Overview' },
    { id: 'triggers', label: 'Triggers', count: detail?.triggers.count },
    { id: 'workers', label: 'Workers', count: detail?.workers.length },
    { id: 'runs', label: 'Runs' },
    { id: 'logs', label: 'Logs' },
    { id: 'schema', label: 'Schema' },
    { id: 'code', label: 'Code' },
  ];
  return (
    <DetailPanel
      label={`Function ${id}`}
      title={
        <span className="flex font-mono">
          <MiddleCut text={id} tail={16} />
        </span>
      }
      onClose={onClose}
    >
      {detail === undefined && error === null && <Loading what="the function" />}
      {detail === undefined && error !== null && <UnknownFunction id={id} error={error} retry={refetch} />}
      {detail !== undefined && (
        <>
          {goneSinceMs !== undefined && (
            <p role="status" className="flex items-center gap-2 border-b border-warn bg-warn-soft px-3 py-2 text-warn">
              <Shape tone="warn" /> Not registered since <Time ms={goneSinceMs} />. It is registered again when its
              worker reconnects.
            </p>
          )}
          <Tabs label="Function" tabs={tabs} value={tab} onChange={setTab}>
            <FunctionTabContent {...{ tab, detail }} isGone={goneSinceMs !== undefined} />
          </Tabs>
        </>
      )}
    </DetailPanel>
  );
}

function FunctionTabContent({
  tab,
  detail,
  isGone,
}: {
  readonly tab: FunctionTab;
  readonly detail: FunctionDetail;
  readonly isGone: boolean;
}): ReactNode {
  switch (tab) {
    case 'invoke':
      return <InvokeTab detail={detail} isGone={isGone} />;
    case 'overview':
      return <OverviewTab detail={detail} />;
    case 'triggers':
      return <TriggersTab detail={detail} />;
    case 'workers':
      return <WorkersTab detail={detail} />;
    case 'runs':
      return <RunsTab functionId={detail.function_id} />;
    case 'logs':
      return <LogsTab functionId={detail.function_id} />;
    case 'schema':
      return <SchemaTab detail={detail} />;
    case 'code':
      return <CodeTab detail={detail} />;
  }
}

/** The function as it is, or as it was before its last worker left (FUN-3). */
function useFunction(id: string): {
  readonly detail: FunctionDetail | undefined;
  readonly goneSinceMs: number | undefined;
  readonly error: unknown;
  readonly refetch: () => void;
} {
  const { range } = useTimeRange();
  const query = useQuery({
    queryKey: ['function', id, range],
    queryFn: ({ signal }) => call('GET /functions/{id}', { parts: { id }, query: boundsOf(range, Date.now()), signal }),
  });
  const { data, error, refetch } = query;
  useLive('registry', {
    items: (items) => {
      if ((items as readonly { id: string }[]).some((item) => item.id === id)) void refetch();
    },
    back: () => void refetch(),
  });
  const isGone = error instanceof ApiError && error.exchange.status === 404;
  const last = useRef<FunctionDetail>(undefined);
  if (data !== undefined && !isGone) last.current = data;
  const [goneSinceMs, setGone] = useState<number>();
  useEffect(() => setGone(isGone ? Date.now() : undefined), [isGone]);
  return { detail: data ?? last.current, goneSinceMs, error, refetch: () => void refetch() };
}

function UnknownFunction({
  id,
  error,
  retry,
}: {
  readonly id: string;
  readonly error: unknown;
  readonly retry: () => void;
}): ReactNode {
  if (error instanceof ApiError && error.exchange.status === 404) {
    return (
      <EmptyState title="Not registered">
        <p>
          No connected worker offers <code className="break-all text-text">{id}</code>. The function opens here when one
          does.
        </p>
      </EmptyState>
    );
  }
  return (
    <div className="p-3">
      <ErrorCard error={error} what="Reading the function" retry={retry} />
    </div>
  );
}
