// The Flow page: triggers, functions and the objects that they use as one graph, with statistics from traces at its
// edges (FLO-1 to FLO-6).

import { ReactFlowProvider } from '@xyflow/react';
import { Crosshair } from 'lucide-react';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { useKeys } from '../../app/keys.ts';
import { useConsoleInfo, useReadOnly } from '../../data/connection.ts';
import { usePageSearch } from '../../data/search.ts';
import { useTimeRange } from '../../data/time-range.ts';
import { formatCount, formatCountOf } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, FirstRun, Loading, Snippet } from '../../kit/feedback/empty-state.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { download } from '../../kit/inputs/copy.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { TimeRangeControl } from '../../kit/inputs/time-range.tsx';
import { Page } from '../../kit/layout/page.tsx';
import { flipIn } from '../../kit/table/selection.ts';
import { FlowCanvas, isWanted } from './canvas.tsx';
import { FlowDetail } from './detail.tsx';
import { flowSvg } from './logic/flow-drawing.ts';
import type { NodePositions } from './logic/flow-layout.ts';
import { type FlowView, flowView } from './logic/flow-view.ts';
import { FLOW_SEARCH } from './search.ts';
import { FlowActions, FlowToolbar } from './toolbar.tsx';
import { useActivity, useFlowGraph } from './use-graph.ts';
import { useFlowLayout } from './use-layout.ts';

export default function Flow(): ReactNode {
  const info = useConsoleInfo();
  if (info?.flow_enabled === false) {
    return (
      <Page title="Flow" scrolls>
        <EmptyState title="Flow is not enabled">
          <p>Start the console with Flow enabled:</p>
          <Snippet text="svc console --enable-flow" label="command" />
          <p>or set SVC_ENABLE_FLOW=true. Then this page shows how triggers, functions, queues and states connect.</p>
        </EmptyState>
      </Page>
    );
  }
  return (
    <ReactFlowProvider>
      <FlowPage />
    </ReactFlowProvider>
  );
}

function FlowPage(): ReactNode {
  const { search, setSearch } = usePageSearch(FLOW_SEARCH);
  const { q, group, hide, toggled, focus, hops, internal, id } = search;
  const [isLive, setLive] = useState(true);
  const readOnly = useReadOnly();
  const { range } = useTimeRange();
  const graph = useFlowGraph(range, internal, isLive);
  const active = useActivity(isLive);
  const hopCount = hops === 'all' ? Number.POSITIVE_INFINITY : Number(hops);
  const view = useMemo(
    () =>
      graph.data &&
      flowView(graph.data, {
        hidden: hide,
        groupBy: group,
        toggled,
        focus: focus === undefined ? undefined : { id: focus, hops: hopCount },
      }),
    [graph.data, hide, group, toggled, focus, hopCount],
  );
  const layout = useFlowLayout(view, !readOnly);
  const { open, toggleGroup } = useMoves();
  useKeys([{ keys: ['p'], name: 'Pause or resume live', run: () => setLive((now) => !now) }]);
  const wanted = q.toLowerCase();
  const found = wanted === '' ? undefined : (view?.nodes.filter((node) => isWanted(node, wanted)).length ?? 0);
  const focused = graph.data?.nodes.find((node) => node.id === focus)?.label;
  return (
    <Page
      title="Flow"
      note={view && <Counts view={view} hasTraces={graph.data?.has_traces ?? true} />}
      actions={
        <>
          <TimeRangeControl />
          <Toggle label="Live" checked={isLive} onChange={setLive} />
          {id !== undefined && (
            <Button icon={<Crosshair size={13} />} onClick={() => setSearch({ focus: id })}>
              Focus on it
            </Button>
          )}
          <FlowActions
            isMoved={layout.isMoved}
            reset={layout.reset}
            exportSvg={() => view && layout.positions && saveSvg(view, layout.positions)}
          />
        </>
      }
      toolbar={<FlowToolbar {...{ search, setSearch, found }} focusLabel={focused ?? focus} />}
      detail={
        id === undefined || view === undefined ? undefined : (
          <FlowDetail
            {...{ id, view, open, toggleGroup }}
            onClose={() => setSearch({ id: undefined }, { push: true })}
          />
        )
      }
    >
      <FlowContent graph={graph} view={view}>
        {view !== undefined && layout.positions !== undefined && (
          <FlowCanvas
            {...{ view, active, wanted, open, toggleGroup }}
            positions={layout.positions}
            openId={id}
            move={layout.move}
          />
        )}
      </FlowContent>
    </Page>
  );
}

/** Actions that change the address. */
function useMoves() {
  const { search, setSearch } = usePageSearch(FLOW_SEARCH);
  const { toggled } = search;
  const open = useCallback((to: string) => setSearch({ id: to }, { push: true }), [setSearch]);
  const toggleGroup = useCallback(
    (name: string) => setSearch({ toggled: flipIn(toggled, name), id: undefined }),
    [setSearch, toggled],
  );
  return { open, toggleGroup };
}

interface ContentProps {
  readonly graph: ReturnType<typeof useFlowGraph>;
  readonly view: FlowView | undefined;
  readonly children: ReactNode;
}

function FlowContent({ graph: { data, error, refetch }, view, children }: ContentProps): ReactNode {
  if (data === undefined && error !== null) {
    return <FailedState error={error} what="Flow" shows="how everything connects" retry={() => void refetch()} />;
  }
  if (data === undefined || view === undefined) return <Loading what="the flow" />;
  if (data.nodes.length === 0) return <FirstRun />;
  if (view.nodes.length === 0) {
    return (
      <EmptyState title="All nodes are hidden">
        <p>There are {formatCount(data.nodes.length)} nodes. Show a kind above.</p>
      </EmptyState>
    );
  }
  return children;
}

function Counts({ view, hasTraces }: { readonly view: FlowView; readonly hasTraces: boolean }): ReactNode {
  return (
    <>
      {formatCountOf(view.nodes.length, 'node')}, {formatCountOf(view.edges.length, 'connection')}
      {view.left > 0 && `, and ${formatCountOf(view.left, 'more node')} not drawn`}
      {!hasTraces && '; calls between functions need svc-observability'}
    </>
  );
}

function saveSvg(view: FlowView, positions: NodePositions): void {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const colours = {
    ground: colour('ground'),
    box: colour('panel'),
    line: colour('line-strong'),
    text: colour('text'),
    muted: colour('muted'),
    bad: colour('bad'),
  };
  download('flow.svg', 'image/svg+xml', flowSvg(view, positions, colours));
}
