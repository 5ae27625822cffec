// Times that are computed from the columns of a trace: the correction of clocks, and waits in queues.

import { FLAG, type TraceColumns } from './trace-columns.ts';
import { spanKind } from './trace-span.ts';

// Optional correction of clocks that disagree (TRC-11): a span that starts before its parent is moved, with its
// descendants, to the middle of its parent, or to its start when it is longer. Only applied on request. The page shows
// how many spans were moved.

export interface Corrected {
  readonly columns: TraceColumns;
  readonly movedCount: number;
}

export function correctSkew(columns: TraceColumns): Corrected {
  const shift = new Float64Array(columns.count);
  const startMs = Float64Array.from(columns.startMs);
  const endMs = Float64Array.from(columns.endMs);
  const eventMs = Float64Array.from(columns.eventMs);
  const innerFromMs = Float64Array.from(columns.innerFromMs);
  const innerToMs = Float64Array.from(columns.innerToMs);
  let movedCount = 0;
  for (let row = 0; row < columns.count; row += 1) {
    const parent = columns.parent[row] ?? -1;
    // Parents come before their children: theirs is already computed.
    let by = parent === -1 ? 0 : (shift[parent] ?? 0);
    if (((columns.flags[row] ?? 0) & FLAG.startsBeforeParent) !== 0) {
      const spareMs = lengthOf(columns, parent) - lengthOf(columns, row);
      by = (startMs[parent] ?? 0) + Math.max(0, spareMs / 2) - (columns.startMs[row] ?? 0);
    }
    shift[row] = by;
    if (by === 0) continue;
    movedCount += 1;
    startMs[row] = (startMs[row] ?? 0) + by;
    endMs[row] = (endMs[row] ?? 0) + by;
    innerFromMs[row] = (innerFromMs[row] ?? 0) + by;
    innerToMs[row] = (innerToMs[row] ?? 0) + by;
    for (let at = columns.eventFrom[row] ?? 0; at < (columns.eventFrom[row + 1] ?? 0); at += 1) {
      eventMs[at] = (eventMs[at] ?? 0) + by;
    }
  }
  const durationMs = endMs.reduce((max, end) => Math.max(max, end), 0);
  return { columns: { ...columns, startMs, endMs, eventMs, innerFromMs, innerToMs, durationMs }, movedCount };
}

function lengthOf(columns: TraceColumns, row: number): number {
  return (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0);
}

// The time that work waited in a queue: between enqueueing and the first attempt, and between attempts. Drawn as
// hatched segments before the bar of the attempt (TRC-5).

export interface Waits {
  readonly rows: Uint32Array;
  readonly fromMs: Float64Array;
  readonly toMs: Float64Array;
  /** 1 where the wait is between attempts. */
  readonly isRetry: Uint8Array;
}

export function queueWaits(columns: TraceColumns): Waits {
  const waits: { row: number; from: number; to: number; isRetry: boolean }[] = [];
  const isQueueName = columns.names.map((name) => spanKind(name) === 'queue');
  // The end of the last attempt of the same name under the same parent.
  const lastEnds = new Map<string, number>();
  for (let row = 0; row < columns.count; row += 1) {
    const name = columns.nameOf[row] ?? 0;
    const parent = columns.parent[row] ?? -1;
    if (isQueueName[name] !== true || parent === -1) continue;
    const key = `${parent} ${name}`;
    const earlier = lastEnds.get(key);
    const from = earlier ?? columns.endMs[parent] ?? 0;
    const to = columns.startMs[row] ?? 0;
    lastEnds.set(key, columns.endMs[row] ?? 0);
    if (to > from) waits.push({ row, from, to, isRetry: earlier !== undefined });
  }
  return {
    rows: Uint32Array.from(waits, (wait) => wait.row),
    fromMs: Float64Array.from(waits, (wait) => wait.from),
    toMs: Float64Array.from(waits, (wait) => wait.to),
    isRetry: Uint8Array.from(waits, (wait) => (wait.isRetry ? 1 : 0)),
  };
}
