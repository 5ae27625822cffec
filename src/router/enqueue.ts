// Calls with the action `enqueue`: handed to the queue module, answered with a receipt or the reason why not (Q1, Q2).

import { PRESSURE } from '../core/pressure.ts';
import type { EnqueueAnswer, EnqueueReason } from '../core/queue/shapes.ts';
import { detach } from '../protocol/byte-string.ts';
import type { EnqueueAction } from '../protocol/frames.ts';
import { idOffence } from '../protocol/ids.ts';
import type { RouterContext } from './context.ts';
import { beginEnqueue, contextOf, endEnqueue, spanOf } from './observe.ts';
import type { CallRequest } from './open-call.ts';
import { type Outcome, outcomeOfError, outcomeOfValue } from './reply.ts';
import { answer } from './settle.ts';

/** The function need not exist yet: its jobs wait for it (Q7). */
export function enqueue(context: RouterContext, request: CallRequest, action: EnqueueAction): void {
  const { caller, ref, functionId, data, metadata, baggage } = request;
  const begun = context.observer && beginEnqueue(context.observer, request, action.queue);
  const done = (verdict: EnqueueAnswer): void => {
    if ('reason' in verdict) context.counters.count('enqueue.refused', verdict.reason);
    if (context.observer !== undefined) endEnqueue(context.observer, functionId, spanOf(begun), verdict);
    if (caller !== undefined) answer(caller, ref, functionId, outcomeOfVerdict(verdict));
  };
  const refusal = refuse(context, request, action);
  if (refusal !== undefined) return done(refusal);
  context.jobTaker?.take(
    {
      functionId: detach(functionId),
      payload: data,
      metadata: metadata?.asText(),
      traceparent: contextOf(begun, request.traceparent),
      baggage,
      action,
    },
    done,
  );
}

function refuse(
  context: RouterContext,
  { functionId, from, depth }: CallRequest,
  { queue }: EnqueueAction,
): EnqueueAnswer | undefined {
  const offence = idOffence(functionId);
  if (offence !== undefined) return refused('INVALID_ARGUMENTS', `The function id ${offence}`);
  // What already runs may still hand on what it owes; what would begin is refused.
  const begins = depth === 0 && (from === undefined || from.inFlight === 0);
  if (context.isStopped || (context.isDraining && begins)) {
    return refused('SHUTTING_DOWN', 'The engine is shutting down and takes no new jobs');
  }
  if (context.jobTaker === undefined) {
    return refused('QUEUE_NOT_FOUND', `Queue '${queue}' not found: no queue module is loaded (svc-queue)`);
  }
  if (context.pressure.level < PRESSURE.protect) return undefined;
  return refused('OVERLOADED', 'The engine is under too much load and takes no jobs; wait and repeat');
}

function refused(reason: EnqueueReason, message: string): EnqueueAnswer {
  return { reason, message };
}

function outcomeOfVerdict(verdict: EnqueueAnswer): Outcome {
  if (!('reason' in verdict)) return outcomeOfValue({ messageReceiptId: verdict.id });
  const { reason, message } = verdict;
  return outcomeOfError({ code: 'enqueue_error', message, enqueue_error: message, reason });
}
