// The tooltip of a box of the flame graph.

import type { ReactNode } from 'react';
import { formatCountOf, formatDuration } from '../../../kit/charts/times.ts';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import type { FlameBlock } from '../logic/flame-layout.ts';
import type { TraceView } from '../logic/trace-session.ts';

export interface FlameTipProps {
  readonly view: TraceView;
  readonly row: number;
  readonly block: FlameBlock | undefined;
  /** Relative to the left and top of the scrolled content. */
  readonly x: number;
  readonly y: number;
}

export function FlameTip({ view, row, block, x, y }: FlameTipProps): ReactNode {
  const { columns } = view;
  const isLeft = x < innerWidth / 2;
  return (
    <div
      className={
        'pointer-events-none absolute z-20 max-w-sm rounded-lg border border-line bg-raised px-3 py-2 text-sm ' +
        'shadow-float'
      }
      style={{ top: y + 16, ...(isLeft ? { left: x + 12 } : { right: `calc(100% - ${x - 8}px)` }) }}
    >
      <p className="font-medium break-words">{visibleText(columns.names[columns.nameOf[row] ?? 0] ?? '')}</p>
      <p className="text-muted">{visibleText(columns.services[columns.serviceOf[row] ?? 0] ?? '')}</p>
      {block === undefined ? (
        <p>
          {formatDuration((columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0))}, own{' '}
          {formatDuration(columns.selfMs[row] ?? 0)}, at {formatDuration(columns.startMs[row] ?? 0)}
        </p>
      ) : (
        <p>
          {formatCountOf(block.count, 'span')}, {formatDuration(block.totalMs)} with all below, own{' '}
          {formatDuration(block.selfMs)}
          {block.errorCount > 0 && `, ${block.errorCount} errors`}
        </p>
      )}
    </div>
  );
}
