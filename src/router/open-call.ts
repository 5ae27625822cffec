// A call as it is asked for, and its entry in the table of calls in flight.

import type { Call } from '../core/call-table.ts';
import type { TriggerOrigin } from '../protocol/frames.ts';
import type { Payload } from '../protocol/payload.ts';
import type { ModuleExecutor } from './builtin.ts';
import type { Caller, RouterContext } from './context.ts';
import { Session } from './session.ts';
import type { CallerRef } from './wire.ts';

/** A call to be made, whoever asks for it. Payloads may be views of a message: copied, or used before it is gone. */
export interface CallRequest {
  readonly functionId: string;
  readonly data: Payload | undefined;
  readonly metadata: Payload | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  /** How deep in a chain of calls the one who asks stands (I8). */
  readonly depth: number;
  readonly timeoutMs: number;
  /** Who asks: shown to built-in functions, and counted against. */
  readonly from: Session | undefined;
  /** Who gets the answer, under which id; `undefined`: nobody waits. */
  readonly caller: Caller | undefined;
  readonly ref: CallerRef;
  /** What caused the call, if it was a trigger. */
  readonly trigger: TriggerOrigin | undefined;
}

export type HandedCall = Call<Session | ModuleExecutor, Caller>;

/** From here on exactly one of result, deadline and lost worker ends the call. */
export function openCall(
  context: RouterContext,
  functionId: string,
  executor: Session | ModuleExecutor,
  request: CallRequest,
): HandedCall {
  if (request.caller instanceof Session) request.caller.callsAwaited++;
  return context.calls.open({
    functionId,
    executor,
    origin: request.caller,
    originRef: request.ref,
    nowMs: context.clock.monotonicMs(),
    timeoutMs: request.timeoutMs,
  });
}
