// The positions of the nodes: computed in a worker, moved by hand, stored in the engine (FLO-1, FLO-3).

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../../data/api.ts';
import { toast } from '../../kit/feedback/toast.tsx';
import type { LayoutReply } from './layout-worker.ts';
import { keepPositions, type NodePosition, type NodePositions, readPositions } from './logic/flow-layout.ts';
import type { FlowView } from './logic/flow-view.ts';

export interface FlowLayoutState {
  /** Undefined until the first layout. */
  readonly positions: NodePositions | undefined;
  /** Whether a node was moved by hand. */
  readonly isMoved: boolean;
  readonly move: (moved: Readonly<Record<string, NodePosition>>) => void;
  readonly reset: () => void;
}

export function useFlowLayout(view: FlowView | undefined, mayStore: boolean): FlowLayoutState {
  const id = `main-${view?.groupBy ?? 'none'}`;
  const client = useQueryClient();
  const key = useMemo(() => ['flow', 'layout', id], [id]);
  const stored = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call('GET /flow/layout/{id}', { parts: { id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: view !== undefined,
    retry: false,
  });
  const isRead = stored.data !== undefined || stored.error !== null;
  const fixed = useMemo(() => readPositions(stored.data?.config), [stored.data]);
  const known = useRef<Record<string, NodePositions>>({});
  const [laidOut, setLaidOut] = useState<{ id: string; positions: NodePositions }>();
  const [round, setRound] = useState(0);
  const lay = useLayoutWorker();
  const shape = view === undefined ? '' : shapeOf(view);
  const latest = useRef(view);
  latest.current = view;
  // biome-ignore lint/correctness/useExhaustiveDependencies: laid out again when the shape changes, not with each new number
  useEffect(() => {
    const { current } = latest;
    if (current === undefined || !isRead) return;
    let isWanted = true;
    lay(current, (fresh) => {
      if (!isWanted) return;
      const positions = keepPositions(current, { ...known.current[id], ...fixed }, fresh);
      known.current[id] = { ...known.current[id], ...positions };
      setLaidOut({ id, positions });
    });
    return () => {
      isWanted = false;
    };
  }, [shape, id, isRead, round]);
  const put = (positions: NodePositions | undefined): void => {
    const config = positions === undefined ? null : { places: positions };
    client.setQueryData(key, { id, config });
    if (!mayStore) return;
    call('PUT /flow/layout/{id}', { parts: { id }, body: { config } }).catch(() =>
      toast({ tone: 'warn', text: 'The layout could not be stored: it needs the state module' }),
    );
  };
  const positions = laidOut?.id === id ? laidOut.positions : undefined;
  return {
    positions,
    isMoved: Object.keys(fixed).length > 0,
    move: (moved) => {
      const next = { ...known.current[id], ...positions, ...moved };
      known.current[id] = next;
      setLaidOut({ id, positions: next });
      put(next);
    },
    reset: () => {
      known.current[id] = {};
      put(undefined);
      // With the next render, in which no position is fixed any more.
      setRound((now) => now + 1);
    },
  };
}

/** The parts of the graph that determine the layout. Statistics do not. */
function shapeOf({ nodes, edges }: FlowView): string {
  return JSON.stringify([nodes.map(({ id, group }) => [id, group]), edges.map(({ id }) => id)]);
}

/** One worker for the page. An outdated answer is ignored. */
function useLayoutWorker(): (view: FlowView, done: (positions: NodePositions) => void) => void {
  const worker = useRef<Worker>(undefined);
  const waiting = useRef<{ readonly id: number; readonly done: (positions: NodePositions) => void }>(undefined);
  useEffect(
    () => () => {
      worker.current?.terminate();
      worker.current = undefined;
    },
    [],
  );
  return useCallback((view, done) => {
    if (worker.current === undefined) {
      worker.current = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
      worker.current.onmessage = ({ data }: MessageEvent<LayoutReply>) => {
        if (waiting.current?.id === data.id) waiting.current.done(data.positions);
      };
      worker.current.onerror = () => toast({ tone: 'bad', text: 'The thread that lays out the flow could not start' });
    }
    const id = (waiting.current?.id ?? 0) + 1;
    waiting.current = { id, done };
    const nodes = view.nodes.map(({ id: nodeId, group, node }) => ({
      id: nodeId,
      group: node === undefined ? undefined : group,
    }));
    const edges = view.edges.map(({ from, to }) => ({ from, to }));
    worker.current.postMessage({ id, nodes, edges });
  }, []);
}
