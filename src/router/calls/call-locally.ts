// A call that starts inside the engine. Its outcome is passed to the part that made it.

import type { Access } from '../../core/access/access.ts';
import { refusals } from '../../core/calls/refusal.ts';
import type { EnqueueAction } from '../../protocol/frames/frames.ts';
import { CALL_TIMEOUT_MS_DEFAULT } from '../../protocol/frames/limits.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import type { Cause } from '../builtin.ts';
import type { CallRequest, RouterContext } from '../context.ts';
import { registeredIdOf } from '../remote/remote-owner.ts';
import { isOfRestricted, isRestricted, judgeElsewhere, type OfTrigger, rightsOfTrigger } from '../restricted/reach.ts';
import type { LocalCaller } from './call.ts';
import { type Outcome, outcomeOf } from './call.ts';
import { deliver, invoke, refusalOf } from './invoke.ts';

export interface LocalCall extends Cause, OfTrigger {
  readonly functionId: string;
  readonly payload: Payload;
  readonly metadata?: Payload | undefined;
  readonly timeoutMs?: number | undefined;
  /** What the connection it is made for may reach, unless a trigger makes it. */
  readonly rights?: Access | undefined;
  /** Durable work of trusted origin. Without it: what a durable trigger calls. */
  readonly isTrustedWork?: boolean | undefined;
  /** Its answer grants rights, so no function of a restricted port may answer it (X6). */
  readonly decides?: boolean | undefined;
  /** Called with the name of the worker that gets the call, if a worker runs it. */
  readonly handed?: ((workerName: string) => void) | undefined;
  /** A call of the console: marked in its trace, and not counted in metrics (API-2). */
  readonly isInternal?: boolean | undefined;
  /** A request from outside, whose depth is only its own claim. */
  readonly isFromOutside?: boolean | undefined;
  /** A restricted connection or a stream client causes it. Without it: what triggers and jobs of the former call. */
  readonly isForRestricted?: boolean | undefined;
  /** An attempt of a job: its time begins when its handler does. */
  readonly isJob?: boolean | undefined;
}

/** What happens to a call that no caller waits for. */
export type LocalAction = { readonly type: 'void' } | EnqueueAction;

/** Calls `done` exactly once, at once or later. Payloads of the outcome are valid until `done` returns. */
export function callLocally(context: RouterContext, call: LocalCall, done: (outcome: Outcome) => void): void {
  const { functionId, decides = false } = call;
  if (decides && isOfRestricted(context, functionId)) return done(outcomeOf(refusals.functionNotFound(functionId)));
  const request = requestOf(context, call, { settle: done });
  // A function that others register meanwhile was not looked at.
  invoke(context, decides ? { ...request, isUnknownElsewhere: true, hasWaitedForMoves: true } : request);
}

/** `done` is called once: with the acceptance, the refusal or, for a job, its receipt. */
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
  const rights = call.rights ?? rightsOfTrigger(context, call, call.functionId);
  const onBehalfOf = judgeElsewhere(context, call, rights);
  return {
    functionId: call.functionId,
    data: call.payload,
    metadata: call.metadata,
    traceparent: call.traceparent,
    baggage: call.baggage,
    depth: call.depth,
    timeoutMs: call.timeoutMs ?? CALL_TIMEOUT_MS_DEFAULT,
    from: undefined,
    rights: onBehalfOf === undefined ? rights : undefined,
    onBehalfOf,
    isTrustedWork: call.isTrustedWork ?? (binding !== undefined && binding.owner === undefined),
    caller,
    ref: '',
    trigger: call.trigger ?? (binding && { type: binding.type, id: registeredIdOf(binding) }),
    handed: call.handed,
    isInternal: call.isInternal,
    isFromOutside: call.isFromOutside,
    isForRestricted: call.isForRestricted ?? isRestricted(context, call),
    isJob: call.isJob,
  };
}
