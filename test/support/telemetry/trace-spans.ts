// Trees of spans for tests, in milliseconds from the start of the trace.

import type { SpanRecord } from '../../../src/core/telemetry/records/records.ts';
import type { TreeSpan } from '../../../src/core/telemetry/spans/trace-tree.ts';
import { START_NANO, spanRecord } from './telemetry-records.ts';

/** A span whose name is also its id, from one millisecond to another. */
export function treeSpan(
  name: string,
  fromMs: number,
  toMs: number,
  children: readonly TreeSpan[] = [],
  parts: Partial<SpanRecord> = {},
): TreeSpan {
  return {
    ...spanRecord({
      name,
      span_id: name,
      start_time_unix_nano: START_NANO + fromMs * 1e6,
      end_time_unix_nano: START_NANO + toMs * 1e6,
      ...parts,
    }),
    duration_ms: toMs - fromMs,
    children: children.map((child) => ({ ...child, parent_span_id: name })),
  };
}
