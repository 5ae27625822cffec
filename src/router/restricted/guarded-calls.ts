// Calls of connections that are not fully trusted: their rate, and the middleware that runs in place of the called
// function (wire 8.6).

import { Refusal } from '../../core/calls/refusal.ts';
import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import { locateMembers } from '../../protocol/frames/envelope.ts';
import type { EnqueueAction } from '../../protocol/frames/frames.ts';
import { asRawJson, byteStringToText, parseRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { CallerRef, Outcome } from '../calls/call.ts';
import { answer } from '../calls/in-flight.ts';
import { deliver, invoke, refuse } from '../calls/invoke.ts';
import type { CallRequest, RouterContext } from '../context.ts';
import type { Session } from '../session/session.ts';
import { withdraw } from '../session/withdraw.ts';
import type { Guard } from './guard.ts';
import { isOfRestricted, reachRefusal } from './reach.ts';

/** Counts one more message. False: it is over the limit and must not be handled. */
export function chargeMessage(context: RouterContext, session: Session, { rules }: Guard): boolean {
  if (session.state === 'closed') return false;
  const verdict = rules.rate?.take(context.clock.monotonicMs()) ?? 'ok';
  if (verdict === 'ok') return true;
  context.counters.count('messages.refused', 'RATE_LIMITED');
  if (verdict === 'flood') {
    context.counters.count('connections.closed', 'too_many_messages');
    context.logger.warn('Connection closed: it exceeded its message rate for 10 s', {
      worker: session.displayName,
      address: session.remoteAddress,
    });
    withdraw(context, session, { code: CLOSE_CODES.tooManyMessages, reason: 'too many messages for 10 s' });
  }
  return false;
}

/** Whether the connection may make one more call now. If not, a waiting caller gets an error. */
export function admitCall(
  context: RouterContext,
  session: Session,
  guard: Guard,
  caller: Session | undefined,
  ref: CallerRef,
): boolean {
  if (chargeMessage(context, session, guard)) return true;
  const refusal = new Refusal('RATE_LIMITED', 'This connection exceeds its message rate; slow down');
  if (session.state === 'open') refuse(context, caller, ref, '', refusal);
  return false;
}

/** The call was admitted; its function may still be out of reach. */
export function guardCall(
  context: RouterContext,
  session: Session,
  guard: Guard,
  request: CallRequest,
  enqueue: EnqueueAction | undefined,
): void {
  const refusal = reachRefusal(request.rights, request.functionId);
  if (refusal !== undefined) {
    refuse(context, request.caller, request.ref, request.functionId, refusal);
    return;
  }
  guard.isEngaged = true;
  const { middlewareFunctionId } = guard.rules.port;
  if (middlewareFunctionId === undefined || isExempt(context, session, middlewareFunctionId, request.functionId)) {
    deliver(context, request, enqueue);
  } else askMiddleware(context, session, guard, middlewareFunctionId, request, enqueue);
}

/**
 * Middleware is skipped for the engine's own functions, and for the calls of a trusted worker that offers the
 * middleware: it would call itself.
 */
function isExempt(context: RouterContext, session: Session, middlewareId: string, functionId: string): boolean {
  const isItsOwn = session.access === undefined && session.functions.has(middlewareId);
  return isItsOwn || context.functions.get(functionId)?.kind === 'builtin';
}

function askMiddleware(
  context: RouterContext,
  session: Session,
  guard: Guard,
  middlewareId: string,
  asked: CallRequest,
  enqueue: EnqueueAction | undefined,
): void {
  const refusal = middlewareOffence(context, session, middlewareId);
  const kept = refusal ?? keep(asked);
  if (kept instanceof Refusal) {
    refuse(context, asked.caller, asked.ref, asked.functionId, kept);
    return;
  }
  session.callsAwaited++;
  invoke(context, {
    ...kept,
    functionId: middlewareId,
    data: Payload.ofText(inputFor(guard, kept, enqueue)),
    timeoutMs: Math.min(asked.timeoutMs, guard.rules.askMsMax),
    rights: undefined,
    isForRestricted: session.access !== undefined,
    caller: {
      settle(outcome) {
        // The call ends with its connection, whatever the middleware would have answered.
        if (session.state === 'closed') return;
        session.callsAwaited--;
        const next = continuation(outcome);
        if (next !== undefined) deliver(context, { ...kept, data: next.data ?? kept.data }, enqueue);
        else if (asked.caller !== undefined) answer(asked.caller, asked.ref, asked.functionId, outcome);
        else if (outcome.error !== undefined) context.counters.count('invocations.void_failed');
      },
    },
  });
}

/** Middleware that is missing refuses, like middleware that fails (X6). */
function middlewareOffence(context: RouterContext, session: Session, middlewareId: string): Refusal | undefined {
  if (context.functions.get(middlewareId) === undefined || isOfRestricted(context, middlewareId)) {
    context.logger.warn('Call refused: the middleware of the port is not registered', { function_id: middlewareId });
    return new Refusal('FORBIDDEN', 'The middleware of this port is not available');
  }
  const { inFlightPerCaller } = session.limits;
  // Fire-and-forget calls count too: their payloads are kept meanwhile.
  if (session.callsAwaited < inFlightPerCaller) return undefined;
  return new Refusal('OVERLOADED', `This connection is at its limit of ${inFlightPerCaller} calls in flight`);
}

/** The request with payloads that outlive their message. */
function keep(request: CallRequest): CallRequest | Refusal {
  const [data, metadata] = [request.data?.asText(), request.metadata?.asText()];
  const isUnreadable = (request.data && data === undefined) || (request.metadata && metadata === undefined);
  if (isUnreadable) return new Refusal('BAD_REQUEST', `The payload for ${request.functionId} is not JSON`);
  return {
    ...request,
    data: data === undefined ? undefined : Payload.ofText(data),
    metadata: metadata === undefined ? undefined : Payload.ofText(metadata),
  };
}

function inputFor({ rules }: Guard, request: CallRequest, enqueue: EnqueueAction | undefined): RawJson {
  const action = enqueue ?? (request.caller === undefined ? { type: 'void' } : null);
  const members = [
    `"function_id":${rawJson(request.functionId)}`,
    `"payload":${request.data?.asText() ?? 'null'}`,
    `"action":${rawJson(action)}`,
    `"context":${rawJson(rules.access?.grant.context ?? {})}`,
    '"namespace":"default"',
  ];
  return asRawJson(`{${members.join(',')}}`);
}

/** Whether the middleware leaves the call to the engine, possibly with another payload (modules 9.6). */
function continuation({ result }: Outcome): { readonly data: Payload | undefined } | undefined {
  const text = result?.asText();
  // Most results are the answer itself: only a result that may be the directive is parsed.
  if (text === undefined || !text.startsWith('{') || !text.includes('"continue"')) return undefined;
  const members = membersOf(text);
  const action = members.get('action');
  if (action === undefined || parseRawJson(action) !== 'continue') return undefined;
  const payload = members.get('payload');
  return { data: payload === undefined ? undefined : Payload.ofText(payload) };
}

/** Values as they were written: a payload must keep its digits. */
function membersOf(text: RawJson): ReadonlyMap<string, RawJson> {
  const members = new Map<string, RawJson>();
  const ranges = locateMembers(Buffer.from(text, 'latin1'));
  if (!(ranges instanceof Int32Array)) return members;
  for (let at = 0; at < ranges.length; at += 4) {
    const [keyStart = 0, keyEnd = 0, start = 0, end = 0] = ranges.subarray(at, at + 4);
    members.set(byteStringToText(asRawJson(text.slice(keyStart, keyEnd))), asRawJson(text.slice(start, end)));
  }
  return members;
}
