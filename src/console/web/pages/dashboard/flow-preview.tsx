// An overview of the application, with a link to the Flow page where that is enabled (DSH-3).

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../../data/api.ts';
import { useConsoleInfo } from '../../data/connection.ts';
import { formatCountOf } from '../../kit/charts/times.ts';
import { Loading, Snippet } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import { Card } from '../../kit/layout/page.tsx';
import { KIND_NAMES, kindOf } from '../triggers/logic/trigger-kinds.ts';
import { PREVIEW, type PreviewEdge, type PreviewNode, previewOf } from './logic/flow-preview.ts';

export function FlowPreview(): ReactNode {
  const info = useConsoleInfo();
  const { data, error } = useQuery({
    queryKey: ['flow', 'preview'],
    queryFn: ({ signal }) => call('GET /flow/graph', { query: {}, signal }),
    refetchInterval: 10_000,
    retry: false,
  });
  return (
    <Card
      title="Application flow"
      actions={
        info?.flow_enabled === true && (
          <Link to="/flow" className="text-sm text-accent hover:underline">
            Open Flow
          </Link>
        )
      }
    >
      {data === undefined && error === null && <Loading what="the flow" rows={4} />}
      {data === undefined && error !== null && <ErrorCard error={error} what="Reading the flow" />}
      {data !== undefined && <Diagram preview={previewOf(data)} />}
      {info?.flow_enabled === false && (
        <details className="mt-2 text-sm text-muted">
          <summary>The flow can have a page of its own.</summary>
          <div className="flex flex-col gap-2 pt-2">
            <p>Start the console with Flow enabled to pan, zoom and lay it out:</p>
            <Snippet text="svc console --enable-flow" label="command" />
          </div>
        </details>
      )}
    </Card>
  );
}

const NODE_SHARE = 0.26;

function Diagram({ preview }: { readonly preview: ReturnType<typeof previewOf> }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 600));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const { nodes, edges, height, left } = preview;
  const label = useMemo(
    () => `${formatCountOf(nodes.length, 'node')}, ${formatCountOf(edges.length, 'connection')}`,
    [nodes, edges],
  );
  if (nodes.length === 0) return <p className="py-8 text-center text-muted">Functions and triggers appear here.</p>;
  return (
    <div ref={box} className="relative overflow-hidden" style={{ height }}>
      <svg role="img" aria-label={label} width={width} height={height} className="absolute inset-0">
        {edges.map((line) => (
          <path
            key={line.edge.id}
            d={curve(line, width)}
            fill="none"
            strokeDasharray={line.edge.kind === 'seen' ? '4 3' : undefined}
            className={(line.edge.error_rate ?? 0) > 0 ? 'stroke-bad' : 'stroke-line-strong'}
          />
        ))}
      </svg>
      {nodes.map((placed) => (
        <Node key={placed.node.id} placed={placed} width={width} />
      ))}
      {left > 0 && <span className="absolute right-0 bottom-0 text-xs text-faint">and {left} more</span>}
    </div>
  );
}

function curve({ from, to }: PreviewEdge, width: number): string {
  const [start, end] = from.x < to.x ? [from, to] : [to, from];
  const [x1, x2] = [(start.x + NODE_SHARE) * width, end.x * width];
  const [y1, y2] = [start.y + PREVIEW.nodeHeight / 2, end.y + PREVIEW.nodeHeight / 2];
  const bend = (x2 - x1) / 2;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

const PAGE_OF_KIND: Readonly<Record<string, { to: string; name: string }>> = {
  trigger: { to: '/triggers', name: 'id' },
  function: { to: '/functions', name: 'id' },
  queue: { to: '/queues', name: 'queue' },
  state: { to: '/states', name: 'scope' },
  stream: { to: '/streams', name: 'sub' },
};

function Node({ placed, width }: { readonly placed: PreviewNode; readonly width: number }): ReactNode {
  const { node, x, y } = placed;
  const page = PAGE_OF_KIND[node.kind] ?? { to: '/triggers', name: 'q' };
  const own = node.id.slice(node.id.indexOf(':') + 1);
  const mark =
    node.kind === 'trigger'
      ? (node.method ?? KIND_NAMES[kindOf(node.trigger_type ?? '')])
      : node.kind === 'function'
        ? ''
        : node.kind;
  return (
    <Link
      to={page.to}
      search={{ [page.name]: own }}
      title={visibleText(node.label)}
      className={classes(
        'absolute flex items-center gap-1.5 overflow-hidden rounded-md border bg-raised px-2 text-sm',
        'hover:border-accent',
        node.status === 'error' ? 'border-bad' : 'border-line',
      )}
      style={{ left: x * width, top: y, width: NODE_SHARE * width, height: PREVIEW.nodeHeight }}
    >
      {mark !== '' && <span className="shrink-0 text-xs font-semibold text-muted uppercase">{mark}</span>}
      <span className="truncate">{visibleText(withoutMark(node.label, mark))}</span>
    </Link>
  );
}

/** `POST /orders` after the mark `POST` is `/orders`. */
function withoutMark(label: string, mark: string): string {
  const isSaid = mark !== '' && label.toLowerCase().startsWith(`${mark.toLowerCase()} `);
  return isSaid ? label.slice(mark.length + 1) : label;
}
