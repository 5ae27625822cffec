// The trace map (TRC-14): services or functions as boxes, calls between them as arrows with counts. Drawn as SVG, with
// the same calls as a list for screen readers.

import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { pathOf } from '../../../kit/charts/label-layout.ts';
import { formatCount, formatDuration } from '../../../kit/charts/times.ts';
import { Loading } from '../../../kit/feedback/empty-state.tsx';
import { Segments } from '../../../kit/inputs/field.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import { type DrawnEdge, drawnEdges, MAP_LINE_PX, MAP_NODE, placeMap } from '../logic/map-layout.ts';
import { spanWords } from '../logic/span-words.ts';
import type { MapNode, TraceMap } from '../logic/trace-services.ts';
import type { TraceView } from '../logic/trace-session.ts';
import type { TraceClient } from '../trace/use-trace.ts';

export interface TraceMapProps {
  readonly client: TraceClient;
  readonly view: TraceView;
  readonly serviceColours: readonly string[];
  readonly by: 'service' | 'function';
  readonly onBy: (by: 'service' | 'function') => void;
  /** Shows only the spans of that box. */
  readonly onNode: (node: MapNode) => void;
}

/** With more boxes there is no picture. The list below still has all of them. */
const NODES_MAX = 300;

export function TraceMapView(props: TraceMapProps): ReactNode {
  const { client, view, by } = props;
  const [map, setMap] = useState<TraceMap>();
  useEffect(() => {
    let isCurrent = true;
    void client.ask({ op: 'map', by }).then((next) => isCurrent && view !== undefined && setMap(next));
    return () => {
      isCurrent = false;
    };
  }, [client, view, by]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 flex-wrap items-center gap-3 border-b border-line px-3 py-1.5">
        <Segments
          label="What the boxes are"
          value={by}
          onChange={props.onBy}
          choices={[
            { value: 'service', label: 'Services' },
            { value: 'function', label: 'Functions' },
          ]}
        />
        <span className="text-sm text-muted">
          Arrows are calls: how many, their p95, and errors.{by === 'function' && ' Dashed arrows are part of a loop.'}
        </span>
      </div>
      {map === undefined ? <Loading what="the map" /> : <MapPicture {...props} map={map} />}
    </div>
  );
}

function MapPicture({ map, ...props }: TraceMapProps & { readonly map: TraceMap }): ReactNode {
  const placed = useMemo(() => placeMap(map), [map]);
  const lines = useMemo(() => drawnEdges(map.edges, placed), [map, placed]);
  if (map.nodes.length > NODES_MAX) {
    return (
      <p className="p-4 text-muted">
        {formatCount(map.nodes.length)} boxes are too many for a picture. Switch to services, or use the flame graph by
        name.
      </p>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div className="min-h-0 flex-1 overflow-auto" tabIndex={0} role="region" aria-label="Trace map">
      <div className="relative m-auto" style={{ width: placed.width, height: placed.height }}>
        <svg aria-hidden className="absolute inset-0" width={placed.width} height={placed.height}>
          <title>Calls between the boxes</title>
          <defs>
            <ArrowEnd id="trace-map-end" look="fill-line-strong" />
            <ArrowEnd id="trace-map-end-failed" look="fill-bad" />
          </defs>
          {lines.map((line) => (
            <Line key={keyOf(line)} {...line} />
          ))}
          {lines.map((line) => (
            <Figures key={keyOf(line)} {...line} />
          ))}
        </svg>
        {map.nodes.map((node) => (
          <Node key={node.id} {...props} node={node} place={placed.positions.get(node.id)} />
        ))}
      </div>
      <EdgeList map={map} />
    </div>
  );
}

function keyOf({ edge: { from, to } }: DrawnEdge): string {
  return `${from} → ${to}`;
}

function Node({
  node,
  place,
  view,
  serviceColours,
  by,
  onNode,
}: TraceMapProps & {
  readonly node: MapNode;
  readonly place: { readonly x: number; readonly y: number } | undefined;
}): ReactNode {
  if (place === undefined) return undefined;
  return (
    <button
      type="button"
      onClick={() => onNode(node)}
      title={`${visibleText(wordsOf(node))}: show its spans`}
      className={
        'absolute flex flex-col justify-center overflow-hidden rounded-lg border border-line bg-panel px-3 text-left ' +
        'hover:border-line-strong hover:bg-hover'
      }
      style={{ left: place.x, top: place.y, width: MAP_NODE.width, height: MAP_NODE.height }}
    >
      <span
        aria-hidden
        className="absolute inset-y-0 left-0 w-1"
        style={{ background: serviceColours[view.columns.services.indexOf(node.service)] }}
      />
      <span className="w-full truncate font-medium">{visibleText(wordsOf(node)) || 'unknown parent'}</span>
      <span className="w-full truncate text-xs text-muted">
        {by === 'function' && `${visibleText(node.service)} · `}
        {formatCount(node.spanCount)} {node.spanCount === 1 ? 'span' : 'spans'} · own {formatDuration(node.selfMs)}
        {node.errorCount > 0 && <span className="text-bad"> · {formatCount(node.errorCount)} errors</span>}
      </span>
    </button>
  );
}

function ArrowEnd({ id, look }: { readonly id: string; readonly look: string }): ReactNode {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="9"
      markerHeight="9"
      markerUnits="userSpaceOnUse"
      orient="auto"
    >
      <path d="M0 0 8 4 0 8Z" className={look} />
    </marker>
  );
}

function Line({ edge, curve }: DrawnEdge): ReactNode {
  const hasFailed = edge.errorCount > 0;
  return (
    <path
      d={pathOf(curve)}
      fill="none"
      className={hasFailed ? 'stroke-bad' : 'stroke-line-strong'}
      strokeWidth={Math.min(4, 1.25 + Math.log10(edge.count))}
      strokeDasharray={edge.isLoop ? '5 4' : undefined}
      markerEnd={hasFailed ? 'url(#trace-map-end-failed)' : 'url(#trace-map-end)'}
    />
  );
}

/** Drawn above all lines, which pass under it. */
function Figures({ edge, lines, at }: DrawnEdge): ReactNode {
  return lines.map((line, index) => (
    <text
      key={line}
      x={at.x}
      y={at.y + (index - (lines.length - 1) / 2) * MAP_LINE_PX}
      textAnchor="middle"
      dominantBaseline="central"
      className={`stroke-ground text-xs [paint-order:stroke] ${edge.errorCount > 0 ? 'fill-bad' : 'fill-muted'}`}
      strokeWidth={5}
    >
      {line}
    </text>
  ));
}

/** The name of a service, or of an operation. */
function wordsOf({ id, service, name }: MapNode): string {
  return id === service ? name : spanWords(name, true);
}

function EdgeList({ map }: { readonly map: TraceMap }): ReactNode {
  const nameOf = (id: string): string => {
    const node = map.nodes.find((one) => one.id === id);
    return node === undefined ? id : wordsOf(node);
  };
  const hasLoops = map.edges.some(({ isLoop }) => isLoop);
  if (map.edges.length === 0) return <p className="p-4 text-muted">Nothing in this trace calls anything else.</p>;
  return (
    <table className="m-4 border-separate border-spacing-x-4 text-sm">
      <caption className="sr-only">Calls of the trace</caption>
      <thead className="text-left text-xs text-muted">
        <tr>
          <th scope="col">From</th>
          <th scope="col">To</th>
          <th scope="col">Calls</th>
          <th scope="col">p95</th>
          <th scope="col">Errors</th>
          {hasLoops && <th scope="col">Loop</th>}
        </tr>
      </thead>
      <tbody>
        {map.edges.map((edge) => (
          <tr key={`${edge.from} → ${edge.to}`}>
            <td>{visibleText(nameOf(edge.from))}</td>
            <td>{visibleText(nameOf(edge.to))}</td>
            <td className="text-right">{formatCount(edge.count)}</td>
            <td className="text-right">{formatDuration(edge.p95Ms)}</td>
            <td className={edge.errorCount > 0 ? 'text-right text-bad' : 'text-right'}>
              {formatCount(edge.errorCount)}
            </td>
            {hasLoops && <td>{edge.isLoop ? 'yes' : ''}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
