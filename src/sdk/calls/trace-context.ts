// The trace context of an invocation. Calls made inside a handler pass both headers on unchanged, and the engine
// increments the depth at every hand-over (I8): in the JSON form as an entry of the baggage, in the binary form as a
// field. The depth is carried over only for a handler that outlives its connection and calls on one of the other form.

const DEPTH_KEY = 'svc.depth';

/** The entries of a W3C baggage header, decoded; properties after `;` are dropped. */
export function parseBaggage(header: string | undefined): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  if (header === undefined) return entries;
  for (const member of header.split(',')) {
    const [pair = ''] = member.split(';', 1);
    const equals = pair.indexOf('=');
    if (equals > 0) entries.set(pair.slice(0, equals).trim(), decode(pair.slice(equals + 1).trim()));
  }
  return entries;
}

/** How many calls lie between the start of the chain and this one. */
export function callDepth(baggage: ReadonlyMap<string, string>): number {
  const depth = Number(baggage.get(DEPTH_KEY));
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}

/** The header with its depth entry set and the other entries unchanged. */
export function withDepth(header: string | undefined, depth: number): string {
  const others = (header ?? '').split(',').filter((member) => member.trim() !== '' && !isDepth(member));
  return [...others, `${DEPTH_KEY}=${depth}`].join(',');
}

/**
 * Position in a trace; ids are lower-case hex.
 *
 * @example
 * import type { HandlerContext, TraceIds } from 'svc-sdk';
 *
 * export const label = ({ trace }: HandlerContext) => {
 *   const ids: TraceIds | undefined = trace;
 *   return ids === undefined ? 'untraced' : `${ids.trace_id}/${ids.span_id}`;
 * };
 */
export interface TraceIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/** The ids of a W3C traceparent header; undefined for anything that is not one. */
export function parseTraceparent(header: string | undefined): TraceIds | undefined {
  const [, trace_id, span_id] = header === undefined ? [] : (TRACEPARENT.exec(header) ?? []);
  return trace_id === undefined || span_id === undefined ? undefined : { trace_id, span_id };
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/;

function isDepth(member: string): boolean {
  return member.slice(0, member.indexOf('=')).trim() === DEPTH_KEY;
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // The entry keeps its text: a stray percent sign does not make it worthless.
    return value;
  }
}

/** What a call inherits from the handler that makes it. */
export interface TraceCarrier {
  /** The context headers as that handler received them. */
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  /** Undefined when the baggage holds the depth. */
  readonly depth: number | undefined;
  /** The function of that handler. */
  readonly functionId?: string | undefined;
}

/** How many calls lie between the start of the chain and a call that this handler makes; 0 outside of handlers. */
export function chainDepth(carrier: TraceCarrier | undefined): number {
  if (carrier === undefined) return 0;
  return carrier.depth ?? callDepth(parseBaggage(carrier.baggage));
}
