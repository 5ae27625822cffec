// The lines of a FIFO queue: which groups wait, and for what (QUE-4).

import type { BuiltinAnswers } from '../../console-api/builtin-answers.ts';
import { readPayload } from '../../core/calls/read-payload.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import { validateGroups } from '../../generated/queue-payloads.ts';
import type { AnyBuiltin } from '../../router/builtin.ts';
import { type FunctionParts, namedQueue } from './function-parts.ts';

const LISTED_DEFAULT = 100;
const LISTED_MAX = 1_000;

export function groupFunctions({ adapter, queues }: FunctionParts): AnyBuiltin[] {
  const id = 'engine::queue::groups';
  return [
    {
      id,
      description: 'Lists the groups of a FIFO queue that have jobs, each with the job at the head of its line',
      async handle(payload): Promise<BuiltinAnswers['engine::queue::groups']> {
        const input = readPayload(id, validateGroups, payload);
        const queue = namedQueue(input);
        const runner = queues.find(queue);
        if (runner === undefined) throw new Refusal('NOT_FOUND', `There is no queue '${queue}'`);
        if (!runner.settings.isFifo) throw new Refusal('BAD_REQUEST', `The queue '${queue}' is not FIFO`);
        if (adapter.groups === undefined) {
          throw new Refusal('NOT_SUPPORTED', `The adapter ${adapter.name} cannot list the groups of a queue`);
        }
        const limit = Math.min(LISTED_MAX, Math.max(1, Math.trunc(input.limit ?? LISTED_DEFAULT)));
        const { groupField } = runner.settings.rules;
        const { groups, hasMore } = await adapter.groups({
          queue,
          limit,
          ...(groupField !== undefined && { groupField }),
        });
        return { groups, complete: !hasMore };
      },
    },
  ];
}
