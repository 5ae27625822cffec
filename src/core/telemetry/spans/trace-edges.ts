// Who called whom, from the stored spans: functions on one side, functions and stores of data on the other. One pass
// over the newest traces of a range.

import { ID_BYTES_MAX } from '../../../protocol/frames/limits.ts';
import type { SpanRecord } from '../records/records.ts';
import { functionIdIn } from './context.ts';
import type { SpanStore } from './span-store.ts';
import { isInternal, type Trace } from './stored-trace.ts';
import { overlaps } from './trace-list.ts';

export interface EdgesQuery {
  /** Unix milliseconds. */
  readonly startTime: number | undefined;
  readonly endTime: number | undefined;
  /** The number of spans to read, newest traces first; at least one trace is read. */
  readonly spansMax: number;
}

export interface EdgeEnd {
  readonly kind: 'function' | 'queue' | 'state' | 'stream';
  readonly name: string;
}

export interface TraceEdge {
  /** The calling function. */
  readonly from: string;
  readonly to: EdgeEnd;
  readonly calls: number;
  readonly errors: number;
}

export interface TraceEdges {
  readonly edges: readonly TraceEdge[];
  /** Unix milliseconds: later than requested where not all traces were read. */
  readonly since_ms: number | null;
}

export function edgesOf(store: SpanStore, query: EdgesQuery, nowMs: number): TraceEdges {
  const traces = [...store.traces()].filter(({ root }) => overlaps(root, query, nowMs) && !isInternal(root));
  traces.sort((a, b) => b.root.start_time_unix_nano - a.root.start_time_unix_nano);
  const edges = new Map<string, { from: string; to: EdgeEnd; calls: number; errors: number }>();
  let left = query.spansMax;
  let sinceMs: number | null = query.startTime ?? null;
  for (const trace of traces) {
    if (left <= 0) break;
    left -= trace.spans.size;
    if (left <= 0 && trace !== traces.at(-1)) sinceMs = trace.root.start_time_unix_nano / 1e6;
    for (const { from, to, isError } of callsOf(trace)) {
      const key = `${from}\0${to.kind}\0${to.name}`;
      const edge = edges.get(key) ?? { from, to, calls: 0, errors: 0 };
      edges.set(key, edge);
      edge.calls++;
      edge.errors += Number(isError);
    }
  }
  return { edges: [...edges.values()], since_ms: sinceMs };
}

function* callsOf(trace: Trace): Generator<{ from: string; to: EdgeEnd; isError: boolean }> {
  const callers = new Callers(trace);
  for (const { record } of trace.spans.values()) {
    const to = callers.endOf(record);
    const from = to === undefined ? undefined : callers.of(record);
    if (to === undefined || from === undefined || (to.kind === 'function' && to.name === from)) continue;
    yield { from, to, isError: record.status === 'error' };
  }
}

/** The function call that contains a span; results are cached, so that depth costs nothing. */
class Callers {
  readonly #trace: Trace;
  readonly #ends = new Map<SpanRecord, EdgeEnd | undefined>();
  readonly #callers = new Map<string, string | undefined>();

  constructor(trace: Trace) {
    this.#trace = trace;
  }

  endOf(span: SpanRecord): EdgeEnd | undefined {
    if (!this.#ends.has(span)) this.#ends.set(span, endOf(span));
    return this.#ends.get(span);
  }

  of(span: SpanRecord): string | undefined {
    const passed: string[] = [];
    let found: string | undefined;
    for (let below = span; ; ) {
      if (this.#callers.has(below.span_id)) {
        found = this.#callers.get(below.span_id);
        break;
      }
      // Stored at once: spans that name each other as parents are visited once.
      this.#callers.set(below.span_id, undefined);
      passed.push(below.span_id);
      const above = this.#trace.spans.get(below.parent_span_id ?? '')?.record;
      if (above === undefined) break;
      const end = this.endOf(above);
      if (end?.kind === 'function') {
        found = end.name;
        break;
      }
      below = above;
    }
    for (const id of passed) this.#callers.set(id, found);
    return found;
  }
}

/** One call, as its span shows it. */
export interface CallEdge {
  /** `undefined`: no function called, but a trigger, a request or a client. */
  readonly from: string | undefined;
  readonly to: EdgeEnd;
  readonly isError: boolean;
}

/** `baggage`: of the call, which names the function that made it. */
export function edgeOf(span: SpanRecord, baggage: string): CallEdge | undefined {
  const to = span.pending === true ? undefined : endOf(span);
  const from = functionIdIn(baggage);
  const isId = from !== undefined && Buffer.byteLength(from) <= ID_BYTES_MAX;
  return to && { from: isId ? from : undefined, to, isError: span.status === 'error' };
}

const ENQUEUE = /^enqueue .* \u2192 (.+)$/;

function endOf({ name, attributes }: SpanRecord): EdgeEnd | undefined {
  const queue = ENQUEUE.exec(name)?.[1];
  if (queue !== undefined) return { kind: 'queue', name: queue };
  if (!name.startsWith('call ')) return undefined;
  const attribute = (key: string): string | undefined => attributes.find(([known]) => known === key)?.[1];
  const functionId = attribute('function_id') ?? name.slice('call '.length);
  if (functionId.startsWith('state::')) return { kind: 'state', name: attribute('svc.state.scope') ?? 'state' };
  if (functionId.startsWith('stream::')) return { kind: 'stream', name: attribute('svc.stream.name') ?? 'streams' };
  return { kind: 'function', name: functionId };
}
