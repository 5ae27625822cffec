// A requested call, and its entry in the table of calls in flight.

import type { Access } from '../../core/access/access.ts';
import type { Call } from '../../core/calls/call-table.ts';
import type { OpenSpan } from '../../core/telemetry/spans/span-rows.ts';
import type { ModuleExecutor } from '../builtin.ts';
import type { Caller, RouterContext } from '../context.ts';
import { countDeferred } from '../session/observe.ts';
import { Session } from '../session/session.ts';
import type { CallerRef, CallOrder } from '../session/wire.ts';

/** A call to be made. Its `depth` is that of its caller (I8). */
export interface CallRequest extends CallOrder {
  /** The caller: shown to built-in functions, and counted against its limits. */
  readonly from: Session | undefined;
  /** What the connection it is made for may reach; `undefined`: everything. */
  readonly rights: Access | undefined;
  /**
   * Durable work of trusted origin: it runs on no restricted connection, unless the connection's prefix covers the
   * function.
   */
  readonly isTrustedWork?: boolean | undefined;
  /** Who gets the answer, under which id; `undefined`: no caller waits. */
  readonly caller: Caller | undefined;
  readonly ref: CallerRef;
  /** Called with the name of the worker that gets the call. */
  readonly handed?: ((workerName: string) => void) | undefined;
  /** A call of the console: marked in its trace, and not counted in metrics (API-2). */
  readonly isInternal?: boolean | undefined;
  /** A request from outside: the depth it claims counts towards the limit, and does not make it part of a chain. */
  readonly isFromOutside?: boolean | undefined;
}

export type HandedCall = Call<Session | ModuleExecutor, Caller>;

/** From here on exactly one of result, deadline and lost worker ends the call. */
export function openCall(
  context: RouterContext,
  functionId: string,
  executor: Session | ModuleExecutor,
  request: CallRequest,
  span: OpenSpan | undefined,
): HandedCall {
  if (request.caller === undefined && context.observer !== undefined && request.isInternal !== true) {
    countDeferred(context.observer, functionId);
  }
  if (request.caller instanceof Session) request.caller.callsAwaited++;
  const call = context.calls.open({
    functionId,
    executor,
    origin: request.caller,
    originRef: request.ref,
    nowMs: context.clock.monotonicMs(),
    timeoutMs: request.timeoutMs,
    span,
    isInternal: request.isInternal,
    isRestricted: isRestricted(request, executor),
  });
  // Not calls between restricted connections, or of one to itself: they could keep a drain going for ever.
  if (request.rights === undefined && executor instanceof Session && executor.access !== undefined) {
    call.isOwed = true;
    executor.owedInFlight++;
  }
  return call;
}

/** Whether a restricted connection makes the call or runs it: such calls have half of the places of the engine. */
export function isRestricted({ rights }: CallRequest, executor?: Session | ModuleExecutor): boolean {
  return rights !== undefined || (executor instanceof Session && executor.access !== undefined);
}
