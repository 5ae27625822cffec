// A whole trace as columns: one entry per row of the fully opened tree, depth first, children by start. Built in the
// worker and passed to the page as typed arrays, so that 100 000 spans cost the page's thread only a transfer.
//
// Invariants:
// - A parent comes before its children, and the subtree of row `i` is exactly the rows `i` to `subtreeEnd[i]`.
// - No span is lost. A span whose parent is missing is under a row "unknown parent". Members of a cycle of parents
//   become roots, marked the same way.
// - Times are milliseconds from the start of the trace, as they were reported. Correction is a separate step.

import type { Span } from './trace-span.ts';

export const FLAG = {
  error: 1,
  pending: 2,
  /** No span: a placeholder for a parent that was named but never arrived. */
  unknownParent: 4,
  startsBeforeParent: 8,
  outlivesParent: 16,
  root: 32,
  /** Its children are still on the server, because large traces are read in levels (TRC-10). */
  unloaded: 64,
} as const;

export interface TraceColumns {
  readonly traceId: string;
  readonly count: number;
  /** Spans without the rows for unknown parents. */
  readonly spanCount: number;
  readonly startUnixNano: number;
  readonly durationMs: number;
  readonly names: readonly string[];
  readonly services: readonly string[];
  readonly ids: readonly string[];
  readonly nameOf: Uint32Array;
  readonly serviceOf: Uint32Array;
  readonly parent: Int32Array;
  readonly depth: Uint32Array;
  readonly subtreeEnd: Uint32Array;
  readonly startMs: Float64Array;
  readonly endMs: Float64Array;
  /** The time in the worker, where a row stands for caller and handler; else NaN. */
  readonly innerFromMs: Float64Array;
  readonly innerToMs: Float64Array;
  readonly selfMs: Float64Array;
  readonly flags: Uint8Array;
  /** Errors in the subtree, including the row itself: a closed row must not hide a failure below it. */
  readonly errorsBelow: Uint32Array;
  /** Event times of row `i`: `eventMs[eventFrom[i]]` up to `eventFrom[i + 1]`. */
  readonly eventFrom: Uint32Array;
  readonly eventMs: Float64Array;
  readonly errorCount: number;
  readonly pendingCount: number;
}

export interface BuiltTrace {
  readonly columns: TraceColumns;
  /** The span of each row; `null` for a row of an unknown parent. */
  readonly spans: readonly (Span | null)[];
}

const MS_PER_NS = 1e-6;

/** Spans that have not ended reach to `nowUnixNano`. */
export function buildTrace(records: readonly Span[], nowUnixNano: number, inner: InnerTimes = NO_INNER): BuiltTrace {
  const nodes = withUnknownParents([...new Map(records.map((span) => [span.span_id, span])).values()]);
  const order = depthFirst(nodes);
  const spans = order.rows.map((node) => nodes.spans[node] ?? null);
  const origin = spans.reduce(
    (min, span) => Math.min(min, span?.start_time_unix_nano ?? min),
    Number.POSITIVE_INFINITY,
  );
  const startUnixNano = Number.isFinite(origin) ? origin : 0;
  const times = timesOf(spans, startUnixNano, nowUnixNano);
  envelopUnknownParents(order, spans, times);
  const columns = {
    ...assemble(nodes, order, spans, times, startUnixNano),
    ...innerOf(spans, inner, startUnixNano, nowUnixNano),
  };
  return { columns, spans };
}

/** Unix nanoseconds, by the id of the row's span; an end of 0 is pending. */
type InnerTimes = ReadonlyMap<string, { readonly start: number; readonly end: number }>;
const NO_INNER: InnerTimes = new Map();

function innerOf(spans: readonly (Span | null)[], inner: InnerTimes, startUnixNano: number, nowUnixNano: number) {
  const innerFromMs = new Float64Array(spans.length).fill(Number.NaN);
  const innerToMs = new Float64Array(spans.length).fill(Number.NaN);
  spans.forEach((span, row) => {
    const times = span === null ? undefined : inner.get(span.span_id);
    if (times === undefined) return;
    innerFromMs[row] = (times.start - startUnixNano) * MS_PER_NS;
    innerToMs[row] = ((times.end === 0 ? nowUnixNano : times.end) - startUnixNano) * MS_PER_NS;
  });
  return { innerFromMs, innerToMs };
}

interface Nodes {
  readonly spans: (Span | null)[];
  readonly ids: string[];
  readonly parents: (string | null)[];
}

function withUnknownParents(records: readonly Span[]): Nodes {
  const spans: (Span | null)[] = [...records];
  const ids = records.map((span) => span.span_id);
  const parents = records.map((span) => (span.parent_span_id === '' ? null : span.parent_span_id));
  const known = new Set(ids);
  for (const span of records) {
    const parent = span.parent_span_id;
    if (parent === null || parent === '' || known.has(parent)) continue;
    known.add(parent);
    spans.push(null);
    ids.push(parent);
    parents.push(null);
  }
  return { spans, ids, parents };
}

interface Order {
  /** The node of each row. */
  readonly rows: number[];
  readonly parent: Int32Array;
  readonly depth: Uint32Array;
  readonly subtreeEnd: Uint32Array;
}

function depthFirst(nodes: Nodes): Order {
  const count = nodes.ids.length;
  const indexOf = new Map(nodes.ids.map((id, index) => [id, index]));
  const children: number[][] = Array.from({ length: count }, () => []);
  const roots: number[] = [];
  nodes.parents.forEach((parent, node) => {
    const at = parent === null ? undefined : indexOf.get(parent);
    if (at === undefined || at === node) roots.push(node);
    else children[at]?.push(node);
  });
  const starts = earliestStarts(nodes, children);
  const byStart = (a: number, b: number): number => (starts[a] ?? 0) - (starts[b] ?? 0) || a - b;
  for (const list of children) if (list.length > 1) list.sort(byStart);
  roots.sort(byStart);
  const order: Order = {
    rows: [],
    parent: new Int32Array(count).fill(-1),
    depth: new Uint32Array(count),
    subtreeEnd: new Uint32Array(count),
  };
  const seen = new Uint8Array(count);
  for (const root of roots) visit(root, children, seen, order);
  // The remaining nodes are in cycles: each becomes a root, so that no span is lost.
  for (let node = 0; node < count; node += 1) if (seen[node] === 0) visit(node, children, seen, order);
  return order;
}

/** The start of a node. A row for an unknown parent starts with its first child. */
function earliestStarts(nodes: Nodes, children: readonly number[][]): Float64Array {
  const starts = new Float64Array(nodes.ids.length);
  nodes.spans.forEach((span, node) => {
    starts[node] = span?.start_time_unix_nano ?? 0;
  });
  nodes.spans.forEach((span, node) => {
    if (span !== null) return;
    starts[node] = (children[node] ?? []).reduce((min, child) => Math.min(min, starts[child] ?? min), Number.MAX_VALUE);
  });
  return starts;
}

function visit(root: number, children: readonly number[][], seen: Uint8Array, order: Order): void {
  const stack: { node: number; row: number; next: number }[] = [];
  const enter = (node: number, parentRow: number): void => {
    const row = order.rows.length;
    seen[node] = 1;
    order.rows.push(node);
    order.parent[row] = parentRow;
    order.depth[row] = parentRow === -1 ? 0 : (order.depth[parentRow] ?? 0) + 1;
    stack.push({ node, row, next: 0 });
  };
  enter(root, -1);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const child = children[top.node]?.[top.next];
    top.next += 1;
    if (child === undefined) {
      order.subtreeEnd[top.row] = order.rows.length;
      stack.pop();
    } else if (seen[child] === 0) {
      enter(child, top.row);
    }
  }
}

interface Times {
  readonly start: Float64Array;
  readonly end: Float64Array;
}

function timesOf(spans: readonly (Span | null)[], startUnixNano: number, nowUnixNano: number): Times {
  const start = new Float64Array(spans.length);
  const end = new Float64Array(spans.length);
  spans.forEach((span, row) => {
    if (span === null) return;
    const endsAt = span.pending === true ? Math.max(nowUnixNano, span.start_time_unix_nano) : span.end_time_unix_nano;
    start[row] = (span.start_time_unix_nano - startUnixNano) * MS_PER_NS;
    end[row] = Math.max(start[row] ?? 0, (endsAt - startUnixNano) * MS_PER_NS);
  });
  return { start, end };
}

function envelopUnknownParents(order: Order, spans: readonly (Span | null)[], times: Times): void {
  spans.forEach((span, row) => {
    if (span !== null) return;
    let from = Number.MAX_VALUE;
    let to = 0;
    for (let below = row + 1; below < (order.subtreeEnd[row] ?? 0); below += 1) {
      from = Math.min(from, times.start[below] ?? from);
      to = Math.max(to, times.end[below] ?? to);
    }
    times.start[row] = from;
    times.end[row] = to;
  });
}

function assemble(
  nodes: Nodes,
  order: Order,
  spans: readonly (Span | null)[],
  times: Times,
  startUnixNano: number,
): Omit<TraceColumns, 'innerFromMs' | 'innerToMs'> {
  const names = new Numbering();
  const services = new Numbering();
  const flags = flagsOf(order, spans, times);
  const events = eventsOf(spans, startUnixNano);
  const count = spans.length;
  const nameOf = Uint32Array.from(spans, (span) => names.of(span?.name ?? 'unknown parent'));
  const serviceOf = Uint32Array.from(spans, (span) => services.of(span?.service_name ?? ''));
  return {
    traceId: spans.find((span) => span !== null)?.trace_id ?? '',
    count,
    spanCount: spans.filter((span) => span !== null).length,
    startUnixNano,
    durationMs: times.end.reduce((max, end) => Math.max(max, end), 0),
    names: names.values,
    services: services.values,
    ids: order.rows.map((node) => nodes.ids[node] ?? ''),
    nameOf,
    serviceOf,
    parent: order.parent,
    depth: order.depth,
    subtreeEnd: order.subtreeEnd,
    startMs: times.start,
    endMs: times.end,
    selfMs: selfTimes(order, times),
    flags,
    errorsBelow: errorsBelow(order.parent, flags),
    ...events,
    errorCount: flags.reduce((sum, flag) => sum + (flag & FLAG.error ? 1 : 0), 0),
    pendingCount: flags.reduce((sum, flag) => sum + (flag & FLAG.pending ? 1 : 0), 0),
  };
}

/** A number for each distinct text, in the order of first use. */
class Numbering {
  readonly values: string[] = [];
  readonly #numbers = new Map<string, number>();

  of(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.values.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}

/**
 * Nanoseconds since 1970 are doubles, which have steps of 256 there: a child that ends with its parent may seem to end
 * that much later.
 */
const ROUNDING_MS = 0.001;
/** Two processes of one machine agree on the time to a millisecond. A smaller limit would mark every second span. */
const CLOCKS_MS = 1;

function flagsOf(order: Order, spans: readonly (Span | null)[], times: Times): Uint8Array {
  return Uint8Array.from(spans, (span, row) => {
    const parent = order.parent[row] ?? -1;
    let flag = parent === -1 ? FLAG.root : 0;
    if (span === null) return flag | FLAG.unknownParent;
    if (span.status === 'error') flag |= FLAG.error;
    if (span.pending === true) flag |= FLAG.pending;
    if (order.subtreeEnd[row] === row + 1 && (span.child_count ?? 0) > 0) flag |= FLAG.unloaded;
    const above = spans[parent];
    if (above === null || above === undefined) return flag;
    const slackMs = span.service_name === above.service_name ? ROUNDING_MS : CLOCKS_MS;
    if ((times.start[row] ?? 0) < (times.start[parent] ?? 0) - slackMs) flag |= FLAG.startsBeforeParent;
    if ((times.end[row] ?? 0) > (times.end[parent] ?? 0) + slackMs) flag |= FLAG.outlivesParent;
    return flag;
  });
}

function errorsBelow(parent: Int32Array, flags: Uint8Array): Uint32Array {
  const counts = Uint32Array.from(flags, (flag) => (flag & FLAG.error ? 1 : 0));
  for (let row = counts.length - 1; row >= 0; row -= 1) {
    const above = parent[row] ?? -1;
    if (above !== -1) counts[above] = (counts[above] ?? 0) + (counts[row] ?? 0);
  }
  return counts;
}

/** The time of a span that none of its children covers. Children are sorted by start, so one pass is enough. */
function selfTimes(order: Order, times: Times): Float64Array {
  const count = order.rows.length;
  const self = new Float64Array(count);
  const coveredTo = new Float64Array(count);
  for (let row = 0; row < count; row += 1) {
    self[row] = (times.end[row] ?? 0) - (times.start[row] ?? 0);
    coveredTo[row] = times.start[row] ?? 0;
    const parent = order.parent[row] ?? -1;
    if (parent === -1) continue;
    const from = Math.max(times.start[row] ?? 0, coveredTo[parent] ?? 0);
    const to = Math.min(times.end[row] ?? 0, times.end[parent] ?? 0);
    if (to <= from) continue;
    self[parent] = Math.max(0, (self[parent] ?? 0) - (to - from));
    coveredTo[parent] = to;
  }
  return self;
}

function eventsOf(spans: readonly (Span | null)[], startUnixNano: number): Pick<TraceColumns, 'eventFrom' | 'eventMs'> {
  const eventFrom = new Uint32Array(spans.length + 1);
  const eventMs: number[] = [];
  spans.forEach((span, row) => {
    for (const event of span?.events ?? []) eventMs.push((event.timestamp_unix_nano - startUnixNano) * MS_PER_NS);
    eventFrom[row + 1] = eventMs.length;
  });
  return { eventFrom, eventMs: Float64Array.from(eventMs) };
}
