// The critical path of a trace in columns, and what each service contributed to it. `core/telemetry` computes the path.

import { criticalPath, type SpanIntervals } from '../../../../../core/telemetry/spans/critical-path.ts';
import { FLAG, type TraceColumns } from './trace-columns.ts';

export interface CriticalPath {
  /** Segment `i`: row `spans[i]` from `fromMs[i]` to `toMs[i]`, in time order, without overlap. */
  readonly spans: Uint32Array;
  readonly fromMs: Float64Array;
  readonly toMs: Float64Array;
  /** 1 for each row that has a segment. */
  readonly isOnPath: Uint8Array;
}

export function criticalPathOf(columns: TraceColumns): CriticalPath {
  const root = rootOf(columns);
  const segments = root === undefined ? [] : criticalPath(root, rowIntervals(columns));
  const isOnPath = new Uint8Array(columns.count);
  for (const { span } of segments) isOnPath[span] = 1;
  return {
    spans: Uint32Array.from(segments, ({ span }) => span),
    fromMs: Float64Array.from(segments, ({ start }) => start),
    toMs: Float64Array.from(segments, ({ end }) => end),
    isOnPath,
  };
}

/** A span without a parent comes before a row for an unknown parent. Then the longest comes first. */
export function rootOf(columns: TraceColumns): number | undefined {
  let best: number | undefined;
  for (let row = 0; row < columns.count; row = columns.subtreeEnd[row] ?? columns.count) {
    if (best === undefined || rankOfRoot(columns, row) > rankOfRoot(columns, best)) best = row;
  }
  return best;
}

/** The name of the trace: that of the first known span, where its parent never arrived. */
export function rootName(columns: TraceColumns): string {
  const root = rootOf(columns) ?? 0;
  const isUnknown = ((columns.flags[root] ?? 0) & FLAG.unknownParent) !== 0;
  return columns.names[columns.nameOf[isUnknown ? root + 1 : root] ?? 0] ?? '';
}

function rankOfRoot(columns: TraceColumns, row: number): number {
  const lengthMs = (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0);
  return ((columns.flags[row] ?? 0) & FLAG.unknownParent) === 0 ? lengthMs + columns.durationMs + 1 : lengthMs;
}

/** The rows as the critical path reads them, in milliseconds. */
export function rowIntervals({ startMs, endMs, subtreeEnd }: TraceColumns): SpanIntervals<number> {
  return {
    startOf: (row) => startMs[row] ?? 0,
    endOf: (row) => endMs[row] ?? 0,
    childrenOf(row) {
      const children: number[] = [];
      const end = subtreeEnd[row] ?? 0;
      for (let child = row + 1; child < end; child = subtreeEnd[child] ?? end) children.push(child);
      return children;
    },
    clockSlack: 1,
  };
}

export interface PathShare {
  readonly service: string;
  readonly totalMs: number;
}

/** What each service contributed to the path, largest first. */
export function pathByService(columns: TraceColumns, path: CriticalPath): PathShare[] {
  const totals = new Map<string, number>();
  path.spans.forEach((row, index) => {
    const service = columns.services[columns.serviceOf[row] ?? 0] ?? '';
    totals.set(service, (totals.get(service) ?? 0) + (path.toMs[index] ?? 0) - (path.fromMs[index] ?? 0));
  });
  return [...totals].map(([service, totalMs]) => ({ service, totalMs })).sort((a, b) => b.totalMs - a.totalMs);
}
