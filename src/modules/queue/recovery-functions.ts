// A store of jobs that went back in time: what it would run again, and its release (R7).

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { shownName } from '../../core/queue/queue-names.ts';
import { validateRecover } from '../../generated/module-payloads.ts';
import type { AnyBuiltin } from '../../router/builtin.ts';
import { needed } from './adapters/capabilities.ts';
import type { QueueAnswers } from './function-answers.ts';
import type { QueueFunctionContext } from './function-payloads.ts';

export function recoveryFunctions({ adapter, queues }: QueueFunctionContext): AnyBuiltin[] {
  return [
    {
      id: 'engine::queue::recovery',
      description: 'Returns whether the store of the queues went back in time, and what it would run again',
      async handle(): Promise<QueueAnswers['engine::queue::recovery']> {
        const found = await needed(adapter, 'recovery').recovery();
        return {
          is_needed: found.heldBackSinceMs !== undefined,
          held_back_since: found.heldBackSinceMs ?? null,
          changes_missing: found.missing,
          jobs: found.jobs,
          engines: found.engines.map(({ id, hasReported }) => ({ id, has_reported: hasReported })),
          run_again: found.again.map(({ id, queue, functionId, enqueuedMs, isDone }) => ({
            messageReceiptId: id,
            queue: shownName(queue),
            function_id: functionId,
            enqueued_at: enqueuedMs,
            state: isDone ? 'done' : 'running',
          })),
          run_again_total: found.againTotal,
        };
      },
    },
    {
      id: 'svc::queue::recover',
      description: 'Hands the jobs of a store that went back in time over again, with or without those that are done',
      async handle(payload): Promise<QueueAnswers['svc::queue::recover']> {
        const { done_jobs: doneJobs } = readPayload('svc::queue::recover', validateRecover, payload);
        const resumed = await needed(adapter, 'recovery').resume(doneJobs);
        if (resumed === undefined) {
          throw new Refusal('BAD_REQUEST', 'The store of the queues has forgotten nothing: its jobs are not held back');
        }
        for (const runner of queues.all) {
          const { name } = runner.settings;
          // Also those that no worker offered when the store was as it is now.
          runner.noteParked((await adapter.open(name, runner.settings)).parkedFunctions);
          runner.nudge();
        }
        return resumed;
      },
    },
  ];
}
