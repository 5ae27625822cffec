// Optional correction of clocks that disagree (TRC-11): a span that starts before its parent is moved, with its
// descendants, to the middle of its parent, or to its start when it is longer. Only applied on request. The page shows
// how many spans were moved.

import { FLAG, type TraceColumns } from './trace-columns.ts';

export interface Corrected {
  readonly columns: TraceColumns;
  readonly movedCount: number;
}

export function correctSkew(columns: TraceColumns): Corrected {
  const shift = new Float64Array(columns.count);
  const startMs = Float64Array.from(columns.startMs);
  const endMs = Float64Array.from(columns.endMs);
  const eventMs = Float64Array.from(columns.eventMs);
  let movedCount = 0;
  for (let row = 0; row < columns.count; row += 1) {
    const parent = columns.parent[row] ?? -1;
    // Parents come before their children: theirs is already computed.
    let by = parent === -1 ? 0 : (shift[parent] ?? 0);
    if (((columns.flags[row] ?? 0) & FLAG.startsBeforeParent) !== 0) {
      const room = lengthOf(columns, parent) - lengthOf(columns, row);
      by = (startMs[parent] ?? 0) + Math.max(0, room / 2) - (columns.startMs[row] ?? 0);
    }
    shift[row] = by;
    if (by === 0) continue;
    movedCount += 1;
    startMs[row] = (startMs[row] ?? 0) + by;
    endMs[row] = (endMs[row] ?? 0) + by;
    for (let at = columns.eventFrom[row] ?? 0; at < (columns.eventFrom[row + 1] ?? 0); at += 1) {
      eventMs[at] = (eventMs[at] ?? 0) + by;
    }
  }
  const durationMs = endMs.reduce((max, end) => Math.max(max, end), 0);
  return { columns: { ...columns, startMs, endMs, eventMs, durationMs }, movedCount };
}

function lengthOf(columns: TraceColumns, row: number): number {
  return (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0);
}
