// A call as it is asked for, and its entry in the table of calls in flight.

import type { Access } from '../core/access.ts';
import type { Call } from '../core/call-table.ts';
import type { OpenSpan } from '../core/telemetry/span-rows.ts';
import type { ModuleExecutor } from './builtin.ts';
import type { Caller, RouterContext } from './context.ts';
import { countDeferred } from './observe.ts';
import { Session } from './session.ts';
import type { CallerRef, CallOrder } from './wire.ts';

/** A call to be made, whoever asks for it. Its `depth` is that of the one who asks (I8). */
export interface CallRequest extends CallOrder {
  /** Who asks: shown to built-in functions, and counted against. */
  readonly from: Session | undefined;
  /** What the one on whose behalf it is made may reach; `undefined`: everything. */
  readonly rights: Access | undefined;
  /** Who gets the answer, under which id; `undefined`: nobody waits. */
  readonly caller: Caller | undefined;
  readonly ref: CallerRef;
  /** Told the name of the worker that gets the call. */
  readonly handed?: ((workerName: string) => void) | undefined;
  /** Of those who look on: marked in its trace, and in no figure (API-2). */
  readonly isInternal?: boolean | undefined;
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
  return context.calls.open({
    functionId,
    executor,
    origin: request.caller,
    originRef: request.ref,
    nowMs: context.clock.monotonicMs(),
    timeoutMs: request.timeoutMs,
    span,
    isInternal: request.isInternal,
  });
}
