// A call that begins inside the engine and whose outcome is told to the part that made it.

import type { Access } from '../core/access.ts';
import type { TriggerOrigin } from '../protocol/frames.ts';
import { CALL_TIMEOUT_MS_DEFAULT } from '../protocol/limits.ts';
import type { Payload } from '../protocol/payload.ts';
import type { RouterContext } from './context.ts';
import { invoke } from './invoke.ts';
import { rightsOfTrigger } from './reach.ts';
import type { Outcome } from './reply.ts';

export interface LocalCall {
  readonly functionId: string;
  readonly payload: Payload;
  readonly metadata?: Payload | undefined;
  readonly traceparent?: string | undefined;
  readonly baggage?: string | undefined;
  /** How deep in a chain of calls its cause stands; 0 for causes from outside (I8). */
  readonly depth: number;
  readonly timeoutMs?: number | undefined;
  /** What the one on whose behalf it is made may reach, if a trigger is not the one. */
  readonly rights?: Access | undefined;
  /** What caused it, if it was a trigger. */
  readonly trigger?: TriggerOrigin | undefined;
}

/** Calls `done` exactly once, at once or later. Payloads of the outcome are valid until `done` returns. */
export function callLocally(context: RouterContext, call: LocalCall, done: (outcome: Outcome) => void): void {
  invoke(context, {
    functionId: call.functionId,
    data: call.payload,
    metadata: call.metadata,
    traceparent: call.traceparent,
    baggage: call.baggage,
    depth: call.depth,
    timeoutMs: call.timeoutMs ?? CALL_TIMEOUT_MS_DEFAULT,
    from: undefined,
    rights: call.rights ?? rightsOfTrigger(context, call.trigger, call.functionId),
    caller: { settle: done },
    ref: '',
    trigger: call.trigger,
  });
}
