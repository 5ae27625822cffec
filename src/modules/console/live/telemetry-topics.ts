// The topics `logs`, `traces` and `trace:<id>`. The observability module applies the filter, so a live view shows what
// a search finds. A log record is sent once. Summaries and spans are sent as upserts: a trace that grows is sent again.

import type { TraceRow } from '../../../console/api/telemetry.ts';
import type { ConsoleContext } from '../console-context.ts';
import { logFilter, logRow, traceRow } from '../routes/telemetry-routes.ts';
import type { Answers } from '../sources/built-ins.ts';
import { Feed, poll } from './feed.ts';
import type { Opening } from './subscription.ts';

const LOG_INTERVAL_MS = 250;
const LOGS_AT_ONCE = 1_000;
/** Records and spans arrive in batches: an older one may arrive after a newer one. */
const OVERLAP_MS = 2_000;
const SENT_MAX = 20_000;

export function openLogs(context: ConsoleContext, opening: Opening): void {
  const { builtIns, module } = context;
  const { topic, filter, since, subscription } = opening;
  const beginMs = since === undefined ? module.router.nowMs : Number(since);
  let newestMs = beginMs;
  /** Ids of records that were sent. */
  const sent = new Set<string>();
  poll(context, opening, LOG_INTERVAL_MS, async () => {
    const start_time = Math.max(beginMs, newestMs - OVERLAP_MS);
    const asked = { ...logFilter({ ...filter, start_time }), order: 'desc', limit: LOGS_AT_ONCE };
    const { logs, total } = await builtIns.ask('engine::logs::search', asked);
    const fresh = logs
      .map((log) => ({ log, row: logRow(log) }))
      .filter(({ row }) => !sent.has(row.id))
      .reverse();
    // All records of this answer are new, and there were more: those in between were never seen.
    if (fresh.length === LOGS_AT_ONCE && total > logs.length) subscription.drop(total - logs.length);
    for (const { log, row } of fresh) {
      sent.add(row.id);
      newestMs = Math.max(newestMs, timeOf(log));
      subscription.push(Feed.text(row), String(newestMs));
    }
    for (const id of sent) {
      if (sent.size <= SENT_MAX) break;
      sent.delete(id);
    }
  });
  subscription.opened(topic, String(beginMs));
}

/** A record without its own time counts by when it was seen. */
function timeOf({
  timestamp_unix_nano,
  observed_timestamp_unix_nano,
}: Answers['engine::logs::search']['logs'][number]): number {
  return Math.floor((timestamp_unix_nano || observed_timestamp_unix_nano) / 1e6);
}

const TRACE_INTERVAL_MS = 500;
const TRACES_AT_ONCE = 256;
const KNOWN_MAX = 4_096;

export function openTraces(context: ConsoleContext, opening: Opening): void {
  const { builtIns, module } = context;
  const { topic, filter, since, subscription } = opening;
  const { function_id, attributes = [], ...filters } = filter;
  const known = new Map<string, string>();
  let lookedMs = since === undefined ? module.router.nowMs : Number(since);
  let newest = 0;
  poll(context, opening, TRACE_INTERVAL_MS, async () => {
    const nowMs = module.router.nowMs;
    const asked = {
      search_all_spans: true,
      ...filters,
      attributes: function_id === undefined ? attributes : [...attributes, ['function_id', function_id]],
      start_time: lookedMs - OVERLAP_MS,
      sort_by: 'start_time',
      sort_order: 'desc',
      limit: TRACES_AT_ONCE,
    };
    const { spans, total } = await builtIns.ask('engine::traces::list', asked);
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

export function openTrace(context: ConsoleContext, opening: Opening, traceId: string): void {
  const { topic, subscription } = opening;
  const known = new Map<string, string>();
  poll(context, opening, TRACE_INTERVAL_MS, async () => {
    const asked = { trace_id: traceId };
    const { roots } = await context.builtIns.ask('engine::traces::tree', asked);
    const open = [...roots];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      open.push(...next.children);
      const { children: _children, ...span } = next;
      const face = `${span.end_time_unix_nano} ${span.status} ${span.events.length} ${span.attributes.length}`;
      if (known.get(span.span_id) === face) continue;
      known.set(span.span_id, face);
      subscription.push(Feed.text(span));
    }
  });
  subscription.opened(topic, null);
}
