// A call that begins inside the engine and whose outcome is told to the part that made it.

import type { Access } from '../core/access.ts';
import { refusals } from '../core/refusal.ts';
import type { EnqueueAction } from '../protocol/frames.ts';
import { CALL_TIMEOUT_MS_DEFAULT } from '../protocol/limits.ts';
import type { Payload } from '../protocol/payload.ts';
import type { Cause } from './builtin.ts';
import type { LocalCaller, RouterContext } from './context.ts';
import { deliver, invoke, refusalOf } from './invoke.ts';
import type { CallRequest } from './open-call.ts';
import { isOfStrangers, type OfTrigger, rightsOfTrigger } from './reach.ts';
import { type Outcome, outcomeOf } from './reply.ts';

export interface LocalCall extends Cause, OfTrigger {
  readonly functionId: string;
  readonly payload: Payload;
  readonly metadata?: Payload | undefined;
  readonly timeoutMs?: number | undefined;
  /** What the one on whose behalf it is made may reach, if a trigger is not the one. */
  readonly rights?: Access | undefined;
  /** Its answer says what somebody may do: nobody from a restricted port may be the one to give it (X6). */
  readonly decides?: boolean | undefined;
  /** Told the name of the worker that gets the call, if it is one of a worker. */
  readonly handed?: ((workerName: string) => void) | undefined;
  /** Of those who look on: marked in its trace, and in no figure (API-2). */
  readonly isInternal?: boolean | undefined;
}

/** How a call is to be carried out if nobody waits for its result. */
export type LocalAction = { readonly type: 'void' } | EnqueueAction;

/** Calls `done` exactly once, at once or later. Payloads of the outcome are valid until `done` returns. */
export function callLocally(context: RouterContext, call: LocalCall, done: (outcome: Outcome) => void): void {
  const { functionId, decides = false } = call;
  if (decides && isOfStrangers(context, functionId)) return done(outcomeOf(refusals.functionNotFound(functionId)));
  invoke(context, requestOf(context, call, { settle: done }));
}

/** `done` is told once: that the call was accepted, or why not; of a job, its receipt. */
export function deliverLocally(
  context: RouterContext,
  call: LocalCall,
  action: LocalAction,
  done: (outcome: Outcome) => void,
): void {
  if (action.type === 'enqueue') return deliver(context, requestOf(context, call, { settle: done }), action);
  const refusal = refusalOf(context, call.functionId);
  if (refusal !== undefined) return done(outcomeOf(refusal));
  invoke(context, requestOf(context, call, undefined));
  done({});
}

function requestOf(context: RouterContext, call: LocalCall, caller: LocalCaller | undefined): CallRequest {
  const { binding } = call;
  return {
    functionId: call.functionId,
    data: call.payload,
    metadata: call.metadata,
    traceparent: call.traceparent,
    baggage: call.baggage,
    depth: call.depth,
    timeoutMs: call.timeoutMs ?? CALL_TIMEOUT_MS_DEFAULT,
    from: undefined,
    rights: call.rights ?? rightsOfTrigger(context, call, call.functionId),
    caller,
    ref: '',
    trigger: call.trigger ?? (binding && { type: binding.type, id: binding.id }),
    handed: call.handed,
    isInternal: call.isInternal,
  };
}
