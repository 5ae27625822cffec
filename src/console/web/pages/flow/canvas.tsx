// The canvas of the flow: boxes and lines to pan, zoom, move and open, by pointer and by keyboard. The numbers of a
// line are above all lines, so that no line hides them.

import {
  Background,
  BaseEdge,
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  MarkerType,
  MiniMap,
  type NodeChange,
  type NodeHandle,
  Panel,
  Position,
  ReactFlow,
  useStore as useFlowStore,
  useReactFlow,
} from '@xyflow/react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { curveBetween, pathOf } from '../../kit/charts/label-layout.ts';
import { type FlowFigures, flowFigures } from './logic/flow-drawing.ts';
import '@xyflow/react/dist/base.css';
import './flow.css';
import { Maximize, Minus, Plus } from 'lucide-react';
import { useKeys } from '../../app/keys.ts';
import { IconButton } from '../../kit/inputs/button.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { useWide } from '../../kit/layout/page.tsx';
import { framesOf, NODE_SIZE, type NodePosition, type NodePositions } from './logic/flow-layout.ts';
import type { FlowView, ViewNode } from './logic/flow-view.ts';
import { type FlowBox, FlowBoxNode, type FlowFrame, FlowFrameNode } from './node.tsx';

const NODE_TYPES = { box: FlowBoxNode, frame: FlowFrameNode };
const EDGE_TYPES = { line: FlowLineEdge };
/** With more nodes, only the visible ones are drawn. */
const ALL_DRAWN_MAX = 200;
/** The buttons are at the left. */
const FIT = { padding: { left: '60px', right: '24px', top: '24px', bottom: '24px' }, maxZoom: 1.1 } as const;
/** The whole graph would be too small to read on a phone: a readable part that can be moved is shown instead. */
const FIT_NARROW = { ...FIT, minZoom: 0.6 } as const;

export interface FlowCanvasProps {
  readonly view: FlowView;
  readonly positions: NodePositions;
  /** Edges of the graph that were active recently. */
  readonly active: ReadonlySet<string>;
  /** In lower case; empty: no search. */
  readonly wanted: string;
  readonly openId: string | undefined;
  readonly open: (id: string) => void;
  readonly move: (moved: Readonly<Record<string, NodePosition>>) => void;
  readonly toggleGroup: (group: string) => void;
}

type Shown = FlowBox | FlowFrame;

export function FlowCanvas(props: FlowCanvasProps): ReactNode {
  const { view, positions, openId, open, move } = props;
  const isWide = useWide();
  const [held, setHeld] = useState<NodePositions>({});
  const nodes = useShownNodes(props, held);
  const edges = useShownEdges(props, held);
  useFit(props, isWide);
  useOpenInSight(props);
  const change = (changes: NodeChange<Shown>[]): void => {
    const moved: Record<string, NodePosition> = {};
    const isDone = changes.every((one) => one.type !== 'position' || one.dragging !== true);
    for (const one of changes) {
      if (one.type === 'position' && one.position !== undefined) moved[one.id] = one.position;
      if (one.type === 'select' && one.selected && one.id !== openId) open(one.id);
    }
    if (Object.keys(moved).length > 0 && !isDone) setHeld((now) => ({ ...now, ...moved }));
    else if (isDone && changes.some(({ type }) => type === 'position')) {
      const all = { ...held, ...moved };
      setHeld({});
      if (Object.entries(all).some(([id, position]) => !isSame(positions[id], position))) move(all);
    }
  };
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      onNodesChange={change}
      nodesConnectable={false}
      edgesFocusable={false}
      elementsSelectable
      deleteKeyCode={null}
      multiSelectionKeyCode={null}
      selectionKeyCode={null}
      minZoom={0.05}
      maxZoom={2}
      onlyRenderVisibleElements={view.nodes.length > ALL_DRAWN_MAX}
      fitView
      fitViewOptions={isWide ? FIT : FIT_NARROW}
      // Not under the overview.
      attributionPosition="bottom-center"
      aria-label="Flow"
    >
      <Background />
      <ZoomButtons />
      {isWide && <MiniMap pannable zoomable ariaLabel="Overview of the flow" nodeColor="var(--line-strong)" />}
    </ReactFlow>
  );
}

function isSame(before: NodePosition | undefined, { x, y }: NodePosition): boolean {
  return before !== undefined && before.x === x && before.y === y;
}

function useShownNodes(
  { view, positions, wanted, openId, toggleGroup }: FlowCanvasProps,
  held: NodePositions,
): Shown[] {
  return useMemo(() => {
    const now = { ...positions, ...held };
    const grouped = view.nodes.map(({ id, node, group }) => ({ id, group: node === undefined ? undefined : group }));
    const frames = framesOf(grouped, now).map(
      ({ id, x, y, width, height }): FlowFrame => ({
        id: `frame:${id}`,
        type: 'frame',
        position: { x, y },
        width,
        height,
        zIndex: -1,
        draggable: false,
        selectable: false,
        focusable: false,
        data: { label: id, close: () => toggleGroup(id) },
      }),
    );
    const boxes = view.nodes.flatMap((one): FlowBox[] => {
      const position = now[one.id];
      if (position === undefined) return [];
      return [
        {
          id: one.id,
          type: 'box',
          position: position,
          ...NODE_SIZE,
          // Known without measuring, so that lines are drawn with the first frame.
          handles: HANDLES,
          selected: one.id === openId,
          ariaLabel: wordsOf(one),
          data: { view: one, isDimmed: wanted !== '' && !isWanted(one, wanted) },
        },
      ];
    });
    return [...frames, ...boxes];
  }, [view, positions, held, wanted, openId, toggleGroup]);
}

const HANDLES: NodeHandle[] = [
  { type: 'target', position: Position.Left, x: 0, y: NODE_SIZE.height / 2, width: 1, height: 1 },
  { type: 'source', position: Position.Right, x: NODE_SIZE.width, y: NODE_SIZE.height / 2, width: 1, height: 1 },
];

export function isWanted({ label, node }: ViewNode, wanted: string): boolean {
  return label.toLowerCase().includes(wanted) || node?.worker?.toLowerCase().includes(wanted) === true;
}

function wordsOf({ node, label, isFailing, members }: ViewNode): string {
  const what = node === undefined ? `Group of ${members}` : node.kind;
  return visibleText(`${what} ${label}${isFailing ? ', failing' : ''}`);
}

function useShownEdges({ view, active, positions }: FlowCanvasProps, held: NodePositions): FlowLine[] {
  const figures = useMemo(() => flowFigures(view, { ...positions, ...held }), [view, positions, held]);
  return useMemo(
    () =>
      view.edges.map((edge): FlowLine => {
        const isActive = edge.parts.some((part) => active.has(part));
        const isBad = (edge.errorRate ?? 0) > 0;
        const colour = isBad ? 'var(--bad)' : isActive ? 'var(--accent)' : 'var(--line-strong)';
        return {
          id: edge.id,
          type: 'line',
          source: edge.from,
          target: edge.to,
          selectable: false,
          className: `${edge.kind}${isActive ? ' active' : ''}`,
          style: { stroke: colour },
          markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: colour },
          data: { figures: figures.get(edge.id) },
        };
      }),
    [view, active, figures],
  );
}

/** Fits everything when the view changes, and the matches when there is a search. */
function useFit({ view, positions, wanted }: FlowCanvasProps, isWide: boolean): void {
  const { fitView } = useReactFlow();
  const count = view.nodes.length;
  const latest = useRef(view);
  latest.current = view;
  // biome-ignore lint/correctness/useExhaustiveDependencies: with another number of nodes, not with each figure
  useEffect(() => {
    const found = wanted === '' ? [] : latest.current.nodes.filter((node) => isWanted(node, wanted));
    const nodes = found.length === 0 ? {} : { nodes: found.map(({ id }) => ({ id })) };
    const frame = requestAnimationFrame(() => void fitView({ ...(isWide ? FIT : FIT_NARROW), ...nodes }));
    return () => cancelAnimationFrame(frame);
  }, [count, wanted, fitView, isWide, Object.keys(positions).length]);
}

/** The detail takes room: the open node stays visible. */
function useOpenInSight({ positions, openId }: FlowCanvasProps): void {
  const { getViewport, setCenter } = useReactFlow();
  const [width, height] = [useFlowStore((flow) => flow.width), useFlowStore((flow) => flow.height)];
  const position = openId === undefined ? undefined : positions[openId];
  // biome-ignore lint/correctness/useExhaustiveDependencies: not when it is moved by hand
  useEffect(() => {
    if (position === undefined || width === 0) return;
    const { x, y, zoom } = getViewport();
    const [left, top] = [position.x * zoom + x, position.y * zoom + y];
    const isSeen =
      left >= 0 && top >= 0 && left + NODE_SIZE.width * zoom <= width && top + NODE_SIZE.height * zoom <= height;
    if (isSeen) return;
    void setCenter(position.x + NODE_SIZE.width / 2, position.y + NODE_SIZE.height / 2, { zoom });
  }, [openId, width, height]);
}

function ZoomButtons(): ReactNode {
  const { fitView, zoomIn, zoomOut } = useReactFlow();
  useKeys([
    { keys: ['0'], name: 'Fit the flow', run: () => void fitView(FIT) },
    { keys: ['+'], name: 'Zoom in', run: () => void zoomIn() },
    { keys: ['-'], name: 'Zoom out', run: () => void zoomOut() },
  ]);
  return (
    <Panel position="bottom-left">
      <div className="flex flex-col rounded-md border border-line bg-panel">
        <IconButton label="Zoom in" hint="+" onClick={() => void zoomIn()}>
          <Plus size={14} />
        </IconButton>
        <IconButton label="Zoom out" hint="-" onClick={() => void zoomOut()}>
          <Minus size={14} />
        </IconButton>
        <IconButton label="Fit the flow" hint="0" onClick={() => void fitView(FIT)}>
          <Maximize size={14} />
        </IconButton>
      </div>
    </Panel>
  );
}

type FlowLine = Edge<{ readonly figures: FlowFigures | undefined }, 'line'>;

function FlowLineEdge(props: EdgeProps<FlowLine>): ReactNode {
  const { sourceX, sourceY, targetX, targetY, style = {}, markerEnd = '', data } = props;
  const path = pathOf(curveBetween({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }));
  const figures = data?.figures;
  return (
    <>
      <BaseEdge path={path} style={style} markerEnd={markerEnd} />
      {figures !== undefined && (
        <EdgeLabelRenderer>
          <span
            className={
              'pointer-events-none absolute flex flex-col rounded-sm bg-ground/85 px-1 text-center text-xs ' +
              'leading-[15px] whitespace-nowrap text-muted'
            }
            style={{ transform: `translate(-50%, -50%) translate(${figures.at.x}px, ${figures.at.y}px)` }}
          >
            <span>{figures.lines[0]}</span>
            {figures.lines.length > 1 && <span className="text-bad">{figures.lines[1]}</span>}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
}
