// A line of the flow, with its numbers above all lines, so that no line hides them.

import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react';
import type { ReactNode } from 'react';
import { curveBetween, pathOf } from '../traces/logic/label-places.ts';
import type { FlowFigures } from './logic/flow-edges.ts';

export type FlowLine = Edge<{ readonly figures: FlowFigures | undefined }, 'line'>;

export function FlowLineEdge(props: EdgeProps<FlowLine>): ReactNode {
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
