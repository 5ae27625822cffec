// Calls with the action `enqueue`: passed to the queue module, answered with a receipt or a refusal (Q1, Q2).

import type { Access } from '../../core/access/access.ts';
import { keptRights } from '../../core/access/kept-rights.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import { PRESSURE } from '../../core/limits/pressure.ts';
import type { EnqueueAnswer, EnqueueReason } from '../../core/queue/shapes.ts';
import type { EnqueueAction } from '../../protocol/frames/frames.ts';
import { idOffence } from '../../protocol/frames/limits.ts';
import { detach } from '../../protocol/json/byte-string.ts';
import type { CallRequest, RouterContext } from '../context.ts';
import { forward } from '../remote/relayed-calls.ts';
import type { RemoteEngine } from '../remote/remote-engine.ts';
import { beginEnqueue, contextOf, endEnqueue, spanOf } from '../session/observe.ts';
import { type Outcome, outcomeOf, outcomeOfError, outcomeOfValue } from './call.ts';
import { answer } from './in-flight.ts';
import { begins } from './new-work.ts';

/** The function need not exist yet: its jobs wait for it (Q7). */
export function enqueue(context: RouterContext, request: CallRequest, action: EnqueueAction): void {
  if (context.home !== undefined) return enqueueAtHome(context, context.home, request, action);
  const { caller, ref, functionId, data, metadata, baggage, rights } = request;
  const { from, forwardedFor } = request;
  const begun = context.observer && beginEnqueue(context.observer, request, action.queue);
  const release = context.payloadShare.take(request.rights, request.data);
  const done = (verdict: EnqueueAnswer): void => {
    if (!(release instanceof Refusal)) release();
    if ('reason' in verdict) context.counters.count('enqueue.refused', verdict.reason);
    if (context.observer !== undefined) endEnqueue(context.observer, functionId, spanOf(begun), verdict);
    if (caller !== undefined) answer(caller, ref, functionId, outcomeOfVerdict(verdict));
  };
  const refusal = refuse(context, request, action) ?? refusalOf(release);
  if (refusal !== undefined) return done(refusal);
  context.jobTaker?.take(
    {
      functionId: detach(functionId),
      payload: data,
      metadata: metadata?.asText(),
      traceparent: contextOf(begun, request.traceparent),
      baggage,
      action,
      rights: rights && keptRights(from?.workerId ?? forwardedFor?.worker ?? '', rights),
      keyScope: rights && keyScopeOf(rights),
    },
    done,
  );
}

/** The first router of the process has the queues. */
function enqueueAtHome(context: RouterContext, home: RemoteEngine, request: CallRequest, action: EnqueueAction): void {
  const { caller, ref, functionId } = request;
  const refusal = forward(context, home, request, { enqueue: action });
  if (refusal !== undefined && caller !== undefined) answer(caller, ref, functionId, outcomeOf(refusal));
}

/** Otherwise a client that guesses a key could take the place of a trusted job, or of a job of another user. */
function keyScopeOf({ port, grant }: Access): string {
  return JSON.stringify([port, grant.functionPrefix ?? null]);
}

function refuse(context: RouterContext, request: CallRequest, { queue }: EnqueueAction): EnqueueAnswer | undefined {
  const offence = idOffence(request.functionId);
  if (offence !== undefined) return refused('INVALID_ARGUMENTS', `The function id ${offence}`);
  // A running chain may still enqueue what it needs. New work is refused, unless other engines run the jobs.
  if (context.isStopped || (context.isDraining && context.settings.isInCluster !== true && begins(request))) {
    return refused('SHUTTING_DOWN', 'The engine is shutting down and takes no new jobs');
  }
  if (context.jobTaker === undefined) {
    return refused('QUEUE_NOT_FOUND', `Queue '${queue}' not found: no queue module is loaded (svc-queue)`);
  }
  if (context.pressure.level < PRESSURE.protect) return undefined;
  return refused('OVERLOADED', 'The engine is under too much load and takes no jobs; wait and repeat');
}

function refusalOf(release: unknown): EnqueueAnswer | undefined {
  return release instanceof Refusal ? refused('OVERLOADED', release.message) : undefined;
}

function refused(reason: EnqueueReason, message: string): EnqueueAnswer {
  return { reason, message };
}

function outcomeOfVerdict(verdict: EnqueueAnswer): Outcome {
  if (!('reason' in verdict)) return outcomeOfValue({ messageReceiptId: verdict.id });
  const { reason, message } = verdict;
  return outcomeOfError({ code: 'enqueue_error', message, enqueue_error: message, reason });
}
