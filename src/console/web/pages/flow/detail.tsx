// The detail of a node: the detail of its own page where there is one, otherwise its connections and a link to its page
// (FLO-5).

import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { formatRate, formatShare } from '../../kit/charts/times.ts';
import { Loading } from '../../kit/feedback/empty-state.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import type { FunctionTab } from '../functions/search.ts';
import type { FlowView, ViewEdge } from './logic/flow-view.ts';

const FunctionDetail = lazy(async () => ({ default: (await import('../functions/detail.tsx')).FunctionDetailPanel }));
const TriggerDetail = lazy(async () => ({ default: (await import('../triggers/detail.tsx')).TriggerDetailPanel }));

interface FlowDetailProps {
  readonly id: string;
  readonly view: FlowView;
  readonly onClose: () => void;
  readonly open: (id: string) => void;
  readonly toggleGroup: (group: string) => void;
}

export function FlowDetail(props: FlowDetailProps): ReactNode {
  const { id, onClose } = props;
  const [kind = '', ...rest] = id.split(':');
  const name = rest.join(':');
  return (
    <Suspense fallback={<Loading what="the detail" />}>
      {kind === 'function' && <FunctionOf key={id} id={name} onClose={onClose} />}
      {kind === 'trigger' && <TriggerDetail key={id} id={name} onClose={onClose} />}
      {kind !== 'function' && kind !== 'trigger' && <ObjectDetail {...props} name={name} kind={kind} />}
    </Suspense>
  );
}

function FunctionOf({ id, onClose }: { readonly id: string; readonly onClose: () => void }): ReactNode {
  const [tab, setTab] = useState<FunctionTab>('overview');
  return <FunctionDetail id={id} tab={tab} setTab={setTab} onClose={onClose} />;
}

const PAGE_OF_KIND: Readonly<Record<string, { to: string; search: string; name: string }>> = {
  queue: { to: '/queues', search: 'queue', name: 'Queues' },
  state: { to: '/states', search: 'scope', name: 'States' },
  stream: { to: '/streams', search: 'stream', name: 'Streams' },
  topic: { to: '/triggers', search: 'q', name: 'Triggers' },
};

function ObjectDetail(props: FlowDetailProps & { readonly name: string; readonly kind: string }): ReactNode {
  const { id, view, name, kind, onClose, open, toggleGroup } = props;
  const page = PAGE_OF_KIND[kind];
  const group = kind === 'group' ? name.slice(name.indexOf(':') + 1) : undefined;
  return (
    <DetailPanel
      label={`${kind} ${group ?? name}`}
      title={
        <span className="flex min-w-0 items-center gap-2">
          <Badge>{kind}</Badge>
          <span className="truncate font-mono">{visibleText(group ?? name)}</span>
        </span>
      }
      onClose={onClose}
    >
      <div className="flex flex-col gap-4 p-3">
        {page !== undefined && (
          <Link to={page.to} search={{ [page.search]: name }} className="self-start text-accent hover:underline">
            Open it in {page.name}
          </Link>
        )}
        {group !== undefined && (
          <button type="button" onClick={() => toggleGroup(group)} className="self-start text-accent hover:underline">
            Open the group
          </button>
        )}
        <Connections
          title="Comes from"
          edges={view.edges.filter(({ to }) => to === id)}
          end="from"
          {...{ view, open }}
        />
        <Connections
          title="Goes to"
          edges={view.edges.filter(({ from }) => from === id)}
          end="to"
          {...{ view, open }}
        />
      </div>
    </DetailPanel>
  );
}

interface ConnectionsProps {
  readonly title: string;
  readonly edges: readonly ViewEdge[];
  readonly end: 'from' | 'to';
  readonly view: FlowView;
  readonly open: (id: string) => void;
}

function Connections({ title, edges, end, view, open }: ConnectionsProps): ReactNode {
  return (
    <section aria-label={title}>
      <h3 className="mb-1 text-sm font-semibold text-muted">{title}</h3>
      {edges.length === 0 && <p className="text-muted">No visible node.</p>}
      <ul>
        {edges.map((edge) => (
          <li key={edge.id} className="flex min-h-7 items-center gap-3">
            <button
              type="button"
              onClick={() => open(edge[end])}
              className="min-w-0 flex-1 truncate text-left font-mono text-accent hover:underline"
            >
              {visibleText(view.nodes.find(({ id }) => id === edge[end])?.label ?? edge[end])}
            </button>
            <span className="text-muted">
              {edge.callsPerMinute === null ? edge.kind : `${formatRate(edge.callsPerMinute)}/min`}
            </span>
            {(edge.errorRate ?? 0) > 0 && <Badge tone="bad">{formatShare(edge.errorRate ?? 0)} fail</Badge>}
          </li>
        ))}
      </ul>
    </section>
  );
}
