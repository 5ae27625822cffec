// Calls with the action `enqueue`. Until a queue module takes them, every one is refused with the reason (Q2).

import type { EnqueueAction } from '../protocol/frames.ts';
import type { Caller, RouterContext } from './context.ts';
import { outcomeOfError } from './reply.ts';
import { answer } from './settle.ts';
import type { CallerRef } from './wire.ts';

export function refuseEnqueue(
  context: RouterContext,
  caller: Caller | undefined,
  ref: CallerRef,
  functionId: string,
  action: EnqueueAction,
): void {
  context.counters.count('enqueue.refused', 'QUEUE_NOT_FOUND');
  if (caller === undefined) return;
  const text = `Queue '${action.queue}' not found: no queue module is loaded (svc-queue)`;
  answer(
    caller,
    ref,
    functionId,
    outcomeOfError({
      code: 'enqueue_error',
      message: text,
      enqueue_error: text,
      reason: 'QUEUE_NOT_FOUND',
    }),
  );
}
