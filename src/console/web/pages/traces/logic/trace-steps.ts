// One row for one step (TRC-21): the engine's span of a call and the worker's span of its handler describe the same
// step, so they are one row unless both sides are asked for. Records are never changed: stored and exported spans stay
// as they are.

import type { Span } from './trace-span.ts';

export interface Steps {
  readonly spans: readonly Span[];
  /** The time in the worker, Unix nanoseconds, by the id of the row's span. */
  readonly inner: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
  /** The id of the row, by the id of the span that it took in. */
  readonly mergedInto: ReadonlyMap<string, string>;
}

export function mergeSteps(spans: readonly Span[]): Steps {
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const handlers = new Map<string, Span>();
  for (const span of spans) {
    const call = byId.get(span.parent_span_id ?? '');
    // Of several below one call, which clients of other makers may send, all but the first stay rows.
    if (call !== undefined && isHandlerOf(span, call) && !handlers.has(call.span_id)) handlers.set(call.span_id, span);
  }
  const mergedInto = new Map([...handlers].map(([callId, { span_id: id }]) => [id, callId]));
  const inner = new Map<string, { start: number; end: number }>();
  const merged = spans.flatMap((span) => {
    if (mergedInto.has(span.span_id)) return [];
    const parent = mergedInto.get(span.parent_span_id ?? '') ?? span.parent_span_id;
    const handler = handlers.get(span.span_id);
    if (handler === undefined) return [parent === span.parent_span_id ? span : { ...span, parent_span_id: parent }];
    inner.set(span.span_id, { start: handler.start_time_unix_nano, end: handler.end_time_unix_nano });
    return [stepOf({ ...span, parent_span_id: parent }, handler)];
  });
  return { spans: merged, inner, mergedInto };
}

function isHandlerOf(span: Span, call: Span): boolean {
  return span.name.startsWith(EXECUTE) && call.name === CALL + span.name.slice(EXECUTE.length);
}

/** Times and ids are those of the call, as long as the caller waited; the service is that which did the work. */
function stepOf(call: Span, handler: Span): Span {
  const known = new Set(call.attributes.map(([key]) => key));
  const below = handler.child_count ?? 0;
  return {
    ...call,
    service_name: handler.service_name,
    status: call.status === 'error' || handler.status === 'error' ? 'error' : call.status,
    attributes: [...call.attributes, ...handler.attributes.filter(([key]) => !known.has(key))],
    // Both sides report the same exception: the handler's has its stack.
    events: handler.events.length > 0 ? handler.events : call.events,
    links: [...call.links, ...handler.links],
    ...(call.child_count !== undefined && { child_count: call.child_count - 1 + below }),
  };
}

const CALL = 'call ';
const EXECUTE = 'execute ';
