// The mark of everything that a log trigger causes (O3). It is in the trace id: that is the one thing which every
// client carries from a handler to its calls, logs and spans, through queues and over engines, also unsampled.

/** How such a trace id begins. A trace of somebody else begins so once in four thousand million times. */
const QUIET_PREFIX = '106c0de5';

export function isQuietTrace(traceId: string): boolean {
  return traceId.startsWith(QUIET_PREFIX);
}

/** The same, of a traceparent header as it came. */
export function isQuietContext(traceparent: string | undefined): boolean {
  return traceparent?.startsWith(QUIET_PREFIX, 3) === true;
}

/** A trace id that carries the mark. `token`: 32 hexadecimal digits by chance. */
export function quietTraceId(token: string): string {
  return QUIET_PREFIX + token.slice(QUIET_PREFIX.length);
}

/**
 * The cause of a log trigger's firing, for `RouterPort.fire`. Its context is unsampled: the collector makes the
 * decision for it anew and keeps the trace id. `token`: 32 hexadecimal digits by chance.
 */
export function quietCause(token: string): { depth: number; traceparent: string; baggage: undefined } {
  return { depth: 0, traceparent: `00-${quietTraceId(token)}-${token.slice(16)}-00`, baggage: undefined };
}
