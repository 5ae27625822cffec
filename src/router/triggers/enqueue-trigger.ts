// A trigger that names a queue: its firing becomes a job, after its condition passed (PD-54).

import type { EnqueueAnswer } from '../../core/queue/shapes.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import type { Binding } from '../builtin.ts';
import type { RouterContext } from '../context.ts';
import { rightsToKeep } from '../restricted/reach.ts';
import { askCondition } from './condition.ts';
import { isBound } from './fire-trigger.ts';

export interface QueuedFiring {
  readonly payload: Payload;
  readonly queue: string;
  /** Identifies the firing: the same firing is the same job, however often it is enqueued. */
  readonly key: string;
}

/** `refused`: the binding holds the reason. */
export type QueuedVerdict = 'queued' | 'condition' | 'left' | 'refused';

/** `done` is called once, with `queued` when the job is durable. */
export function enqueueFiring(
  context: RouterContext,
  binding: Binding,
  firing: QueuedFiring,
  done: (verdict: QueuedVerdict) => void,
): void {
  const functionId = binding.conditionFunctionId;
  if (functionId === undefined) return take(context, binding, firing, done);
  askCondition(context, { functionId, payload: firing.payload, depth: 0, binding }, (verdict, error) => {
    binding.error = error;
    if (verdict === 'pass') take(context, binding, firing, done);
    else done('condition');
  });
}

function take(
  context: RouterContext,
  binding: Binding,
  { payload, queue, key }: QueuedFiring,
  done: (verdict: QueuedVerdict) => void,
): void {
  if (!isBound(context, binding)) return done('left');
  binding.lastFiredAtMs = context.clock.nowMs();
  binding.error = undefined;
  const told = (answer: EnqueueAnswer): void => {
    if (!('reason' in answer)) return done('queued');
    binding.error = `${answer.reason}: ${answer.message}`;
    context.counters.count('enqueue.refused', answer.reason);
    done('refused');
  };
  if (context.jobTaker === undefined) return told({ reason: 'QUEUE_NOT_FOUND', message: 'No queue module is loaded' });
  context.jobTaker.take(
    {
      functionId: binding.functionId,
      payload,
      metadata: binding.metadata,
      traceparent: undefined,
      baggage: undefined,
      action: { type: 'enqueue', queue, idempotency_key: key },
      trigger: { id: binding.id, type: binding.type },
      rights: rightsToKeep(binding),
    },
    told,
  );
}
