// Calls and results that came in JSON frames. `binary-frames.ts` does the same for the binary form. The frame of a call
// is checked first: namespace, then arguments (wire 5.1).

import { depthOf } from '../../core/calls/call-depth.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import type { InvocationResult, InvokeFunction } from '../../protocol/frames/frames.ts';
import { CALL_TIMEOUT_MS_DEFAULT, CALL_TIMEOUT_MS_MAX, ID_BYTES_MAX } from '../../protocol/frames/limits.ts';
import { detach, RAW_NULL, type RawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { CallRequest, RouterContext } from '../context.ts';
import { guardCall } from '../restricted/guarded-calls.ts';
import { contextOfCaller } from '../session/observe.ts';
import type { Session } from '../session/session.ts';
import type { Outcome } from './call.ts';
import { checkedError, settle } from './in-flight.ts';
import { deliver, ownName, refuse } from './invoke.ts';

/** A worker asks for a call, in a JSON frame. */
export function handleInvoke(context: RouterContext, session: Session, frame: InvokeFunction<RawJson>): void {
  const { action } = frame;
  // Clients of version 0.3 mark a fire-and-forget call by sending neither an id nor an action.
  const waits = frame.invocation_id !== undefined && action?.type !== 'void';
  const caller = waits ? session : undefined;
  // Kept while the call runs, so it must not keep the text of a large frame in memory.
  const ref = frame.invocation_id === undefined ? '' : detach(frame.invocation_id);
  const refusal = checkFrame(frame);
  if (refusal !== undefined) {
    refuse(context, caller, ref, frame.function_id, refusal);
  } else {
    const request: CallRequest = {
      functionId: context.settings.isDropIn ? ownName(frame.function_id) : frame.function_id,
      data: Payload.ofText(frame.data ?? RAW_NULL),
      metadata: frame.metadata && Payload.ofText(frame.metadata),
      traceparent: contextOfCaller(context, session, frame.traceparent),
      baggage: frame.baggage,
      depth: depthOf(frame.baggage),
      timeoutMs: frame.timeout_ms ?? (session.isOwnSdk ? CALL_TIMEOUT_MS_DEFAULT : CALL_TIMEOUT_MS_MAX),
      from: session,
      rights: session.access,
      caller,
      ref,
      trigger: undefined,
    };
    const enqueue = action?.type === 'enqueue' ? action : undefined;
    if (session.guard === undefined) deliver(context, request, enqueue);
    else guardCall(context, session, session.guard, request, enqueue);
  }
}

function checkFrame(frame: InvokeFunction<RawJson>): Refusal | undefined {
  const { namespace, timeout_ms: timeoutMs, invocation_id: id } = frame;
  if (id !== undefined && id.length > ID_BYTES_MAX) {
    return new Refusal('BAD_REQUEST', `The invocation_id is ${id.length} long, over the limit of ${ID_BYTES_MAX}`);
  }
  if (namespace !== undefined && namespace !== 'default') {
    if (namespace.trim() === '') return new Refusal('INVALID_NAMESPACE', 'The namespace must not be blank');
    const text = `Function ${frame.function_id} not found in namespace ${namespace}.`;
    return new Refusal('function_not_found', text);
  }
  const isTimeout = timeoutMs === undefined || (Number.isInteger(timeoutMs) && timeoutMs >= 1);
  if (!isTimeout || (timeoutMs ?? 0) > CALL_TIMEOUT_MS_MAX) {
    const text = `timeout_ms must be a whole number from 1 to ${CALL_TIMEOUT_MS_MAX}, found ${timeoutMs}`;
    return new Refusal('BAD_REQUEST', text);
  }
  return undefined;
}

/** A worker sent a result in a JSON frame. Late, repeated and foreign results find no call and are counted. */
export function handleResult(context: RouterContext, session: Session, frame: InvocationResult<RawJson>): void {
  const call = context.calls.find(frame.invocation_id, session);
  if (call === undefined) {
    context.counters.count('invocations.late_results');
    return;
  }
  const { result, error, traceparent, baggage } = frame;
  const outcome: Outcome = {
    result: error === undefined && result !== undefined ? Payload.ofText(result) : undefined,
    error: error && Payload.ofText(checkedError(error)),
    traceparent,
    baggage,
  };
  settle(context, call, outcome, session.lastHeardMs);
}
