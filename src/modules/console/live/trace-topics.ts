// The topics `traces` and `trace:<id>`: summaries and spans as upserts. A trace that grows is sent again.

import type { TraceRow } from '../../../console-api/telemetry.ts';
import { isSpanTree, isTracePage } from '../../../generated/console-answers.ts';
import type { Desk } from '../desk.ts';
import type { SpanTree, TracePage, TreeSpan } from '../facts/answers.ts';
import { traceRow } from '../routes/telemetry-routes.ts';
import { Feed } from './feed.ts';
import { poll } from './poll.ts';
import type { Opening } from './topics.ts';

const INTERVAL_MS = 500;
const READ_AT_ONCE = 256;
/** Spans may arrive this long after their trace was sent. */
const OVERLAP_MS = 2_000;
const KNOWN_MAX = 4_096;

export function openTraces(desk: Desk, opening: Opening): void {
  const { builtIns, context } = desk;
  const { topic, filter, since, subscription } = opening;
  const { function_id, attributes = [], ...filters } = filter;
  const known = new Map<string, string>();
  let lookedMs = since === undefined ? context.router.nowMs : Number(since);
  let newest = 0;
  poll(desk, opening, INTERVAL_MS, async () => {
    const nowMs = context.router.nowMs;
    const asked = {
      search_all_spans: true,
      ...filters,
      attributes: function_id === undefined ? attributes : [...attributes, ['function_id', function_id]],
      start_time: lookedMs - OVERLAP_MS,
      sort_by: 'start_time',
      sort_order: 'desc',
      limit: READ_AT_ONCE,
    };
    const { spans, total } = await builtIns.typed<TracePage>('engine::traces::list', asked, isTracePage);
    lookedMs = nowMs;
    const rows = spans.map(traceRow).reverse();
    const [oldest] = rows;
    // Older traces of this interval did not fit into the answer, and are newer than those sent before.
    if (total > rows.length && oldest !== undefined && oldest.start_time_unix_nano > newest) {
      subscription.drop(total - rows.length);
    }
    for (const row of rows) {
      newest = Math.max(newest, row.start_time_unix_nano);
      if (isNews(known, row)) subscription.push(Feed.text(row), String(nowMs));
    }
  });
  subscription.opened(topic, String(lookedMs));
}

/** Whether it is new or changed. The growing duration of a pending trace is not a change. */
function isNews(known: Map<string, string>, row: TraceRow): boolean {
  const face = `${row.span_count} ${row.status} ${row.status === 'pending' ? '' : row.duration_ms} ${row.error_count}`;
  if (known.get(row.trace_id) === face) return false;
  known.delete(row.trace_id);
  known.set(row.trace_id, face);
  if (known.size > KNOWN_MAX) known.delete(known.keys().next().value ?? '');
  return true;
}

export function openTrace(desk: Desk, opening: Opening, traceId: string): void {
  const { topic, subscription } = opening;
  const known = new Map<string, string>();
  poll(desk, opening, INTERVAL_MS, async () => {
    const asked = { trace_id: traceId };
    const { roots } = await desk.builtIns.typed<SpanTree>('engine::traces::tree', asked, isSpanTree);
    const open = [...roots];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      open.push(...next.children);
      const { children: _children, ...span }: TreeSpan = next;
      const face = `${span.end_time_unix_nano} ${span.status} ${span.events.length} ${span.attributes.length}`;
      if (known.get(span.span_id) === face) continue;
      known.set(span.span_id, face);
      subscription.push(Feed.text(span));
    }
  });
  subscription.opened(topic, null);
}
