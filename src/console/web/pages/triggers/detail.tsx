// The detail of a trigger: its event, a way to fire it, and its last firings.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { TriggerDetail } from '../../../api/registry.ts';
import { ApiError, call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { useLive } from '../../data/use-live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { EmptyState, Loading } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { WordStatus } from '../../kit/feedback/status.tsx';
import { TriggerIcon } from '../../kit/feedback/trigger-icon.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import { Properties } from '../../kit/layout/page.tsx';
import { ConfigWords } from './columns.tsx';
import { ConditionStep } from './condition-step.tsx';
import { CronPanel } from './cron-panel.tsx';
import { EmitPanel } from './emit-panel.tsx';
import { Firings } from './firings.tsx';
import { Section } from './kind-panel.tsx';
import type { RouteNote } from './logic/http-routes.ts';
import { conditionIn, configOf, filterInWords, KIND_NAMES, kindOf } from './logic/trigger-kinds.ts';
import { RequestBuilder } from './request-builder.tsx';
import { WatchPanel } from './watch-panel.tsx';

interface TriggerDetailProps {
  readonly id: string;
  /** The requests that other routes take from this one. */
  readonly note?: RouteNote | undefined;
  readonly onClose: () => void;
}

/** There is no topic for firings. */
const LOOK_MS = 3_000;

export function TriggerDetailPanel({ id, note, onClose }: TriggerDetailProps): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['trigger', id],
    queryFn: ({ signal }) => call('GET /triggers/{id}', { parts: { id }, signal }),
    refetchInterval: LOOK_MS,
  });
  useLive('registry', {
    items: (items) => {
      if ((items as readonly { id: string }[]).some((item) => item.id === id)) void refetch();
    },
    back: () => void refetch(),
  });
  const isGone = error instanceof ApiError && error.exchange.status === 404;
  return (
    <DetailPanel
      label={`Trigger ${id}`}
      title={
        data === undefined ? (
          <CopyId id={id} what="trigger id" />
        ) : (
          <span className="flex min-w-0 items-center gap-2">
            <TriggerIcon type={data.trigger_type} />
            <ConfigWords row={data} />
          </span>
        )
      }
      onClose={onClose}
    >
      {data === undefined && error === null && <Loading what="the trigger" />}
      {data === undefined && error !== null && !isGone && (
        <div className="p-3">
          <ErrorCard error={error} what="Reading the trigger" retry={() => void refetch()} />
        </div>
      )}
      {data === undefined && isGone && (
        <EmptyState title="Not bound">
          <p>No connected worker has bound this trigger. A trigger keeps its id only while it is bound.</p>
        </EmptyState>
      )}
      {data !== undefined && <Detail detail={data} note={note} isGone={isGone} refetch={() => void refetch()} />}
    </DetailPanel>
  );
}

interface DetailProps {
  readonly detail: TriggerDetail;
  readonly note: RouteNote | undefined;
  readonly isGone: boolean;
  readonly refetch: () => void;
}

function Detail({ detail, note, isGone, refetch }: DetailProps): ReactNode {
  const readOnly = useReadOnly();
  const condition = conditionIn(configOf(detail.config));
  return (
    <div className="flex flex-col gap-4 p-3">
      {isGone && (
        <p role="status" className="rounded-md border border-warn bg-warn-soft px-3 py-2 text-warn">
          No longer bound. When its worker reconnects, it gets another id.
        </p>
      )}
      <TriggerProperties detail={detail} note={note} />
      {condition !== undefined && <ConditionStep functionId={condition} detail={detail} readOnly={readOnly} />}
      <KindPanel detail={detail} readOnly={readOnly || isGone} refetch={refetch} />
      <Section title="Last firings">
        <Firings firings={detail.firings} functionId={detail.function_id} />
      </Section>
      <Section title="Config">
        <JsonTree label="config" text={JSON.stringify(detail.config ?? null)} />
      </Section>
    </div>
  );
}

function TriggerProperties({ detail, note }: Pick<DetailProps, 'detail' | 'note'>): ReactNode {
  const { trigger_type: type, function_id: functionId, status, reason, last_fired_at: last } = detail;
  const words = filterInWords(type, configOf(detail.config));
  const rows: [string, ReactNode][] = [
    ['Function', <CopyId key="fn" id={functionId} what="function id" to="/functions" search={{ id: functionId }} />],
    [
      'Status',
      <span key="status" className="flex flex-wrap items-center gap-x-2">
        <WordStatus word={status} />
        {reason !== null && <span className="text-muted">{visibleText(reason)}</span>}
      </span>,
    ],
    ['Kind', `${KIND_NAMES[kindOf(type)]} (${visibleText(type)})`],
    [
      'Worker',
      detail.worker_id === null ? (
        visibleText(detail.worker_name)
      ) : (
        <Link key="worker" to="/workers" search={{ id: detail.worker_id }} className="text-accent hover:underline">
          {visibleText(detail.worker_name)}
        </Link>
      ),
    ],
    ['Last fired', last === null ? 'not since the engine started' : <Time key="last" ms={Date.parse(last)} />],
    ['Trigger ID', <CopyId key="id" id={detail.id} what="trigger id" />],
  ];
  if (note !== undefined) {
    const text = <span key="note" className="text-warn">{`${visibleText(note.text)} (${note.kind})`}</span>;
    rows.splice(2, 0, ['Route', text]);
  }
  if (words !== '') rows.splice(2, 0, ['Fires', visibleText(words)]);
  if (detail.metadata !== null) {
    const text = JSON.stringify(detail.metadata);
    rows.push(['Metadata', <JsonTree key="metadata" label="metadata" text={text} tools={false} depth={1} />]);
  }
  return <Properties rows={rows} />;
}

function KindPanel({
  detail,
  readOnly,
  refetch,
}: {
  readonly detail: TriggerDetail;
  readonly readOnly: boolean;
  readonly refetch: () => void;
}): ReactNode {
  switch (kindOf(detail.trigger_type)) {
    case 'http':
      return <RequestBuilder detail={detail} readOnly={readOnly} fired={refetch} />;
    case 'cron':
      return <CronPanel detail={detail} readOnly={readOnly} fired={refetch} />;
    case 'event':
      return <EmitPanel detail={detail} readOnly={readOnly} fired={refetch} />;
    default:
      return <WatchPanel detail={detail} readOnly={readOnly} fired={refetch} />;
  }
}
