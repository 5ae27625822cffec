// The time that work waited in a queue: between enqueueing and the first attempt, and between attempts. Drawn as
// hatched segments before the bar of the attempt (TRC-5).

import type { TraceColumns } from './trace-columns.ts';
import { spanKind } from './trace-span.ts';

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
