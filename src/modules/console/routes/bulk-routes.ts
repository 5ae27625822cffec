// Bulk operations on dead letters, and the tasks that run them (QUE-3).

import type { BulkRequest, Task } from '../../../console/api/queues.ts';
import { validateBulk, validateNoQuery } from '../../../generated/console-requests.ts';
import type { RawJson } from '../../../protocol/json/byte-string.ts';
import type { ConsoleContext } from '../console-context.ts';
import { failure } from '../sources/failure.ts';
import { objectText } from '../sources/json-text.ts';
import type { StepOutcome, Work } from '../sources/tasks.ts';
import { groupDead, letterMatches, lettersOf } from './dead-letters.ts';
import { askQueues, knownQueue } from './queue-routes.ts';
import { type Route, reading, sending } from './route.ts';

const VERBS = { redrive: 'svc::queue::redrive_message', purge: 'svc::queue::discard_message' } as const;
/** Given in place of a queue: all queues. */
const ALL_QUEUES = '*';

export function bulkRoutes(context: ConsoleContext): readonly Route[] {
  const { tasks } = context;
  return [
    reading('GET /queues/{queue}/dlq/groups', validateNoQuery, async ({ name }) => {
      const { dead } = await knownQueue(context, name(0));
      return await groupDead(context, name(0), dead);
    }),
    ...(['redrive', 'purge'] as const).map((verb) =>
      sending(`POST /queues/{queue}/dlq/${verb}`, validateBulk, async ({ name, body, raw }) => {
        const queues = await queueNames(context, name(0));
        return { task_id: tasks.start(bulkWork(context, verb, queues, body, raw('payload'))).id };
      }),
    ),
    reading('GET /tasks/{id}', validateNoQuery, ({ name }) => tasks.get(name(0))),
    reading('DELETE /tasks/{id}', validateNoQuery, ({ name }) => tasks.cancel(name(0))),
  ];
}

async function queueNames(context: ConsoleContext, name: string): Promise<string[]> {
  if (name === ALL_QUEUES) return (await askQueues(context)).map((queue) => queue.name);
  return [(await knownQueue(context, name)).name];
}

function bulkWork(
  context: ConsoleContext,
  verb: keyof typeof VERBS,
  queues: readonly string[],
  request: BulkRequest,
  payload: RawJson | undefined,
): Work {
  const { ids, filter, all } = request;
  const given = [ids, filter, all].filter((one) => one !== undefined && one !== false);
  if (given.length !== 1) throw failure('BAD_REQUEST', 'Give exactly one of ids, filter and all');
  if (payload !== undefined && (ids?.length !== 1 || verb !== 'redrive' || queues.length !== 1)) {
    throw failure('BAD_REQUEST', 'A payload can be given for the redrive of one id of one queue');
  }
  let targets = ids && named(queues, ids);
  let taken = 0;
  return {
    kind: verb satisfies Task['kind'],
    subject: queues.length === 1 ? (queues[0] ?? '') : `${queues.length} queues`,
    get total() {
      return targets?.length ?? null;
    },
    async next(count) {
      targets ??= await matching(context, queues, filter ?? {});
      const next = targets.slice(taken, taken + count);
      taken += next.length;
      return next.map((target) => () => move(context, VERBS[verb], target, payload));
    },
  };
}

interface Target {
  readonly queue: string;
  readonly id: string;
}

function named(queues: readonly string[], ids: readonly string[]): Target[] {
  return queues.flatMap((queue) => ids.map((id) => ({ queue, id })));
}

/**
 * The letters that are dead now. All ids are read before the first job moves, so jobs that die again are not moved
 * twice.
 */
async function matching(
  context: ConsoleContext,
  queues: readonly string[],
  filter: NonNullable<BulkRequest['filter']>,
): Promise<Target[]> {
  const { nowMs } = context.module.router;
  const targets: Target[] = [];
  for (const queue of queues) {
    const ids = new Set<string>();
    for await (const letter of lettersOf(context, queue, { query: filter })) {
      if (letterMatches(queue, letter, filter, nowMs)) ids.add(letter.id);
    }
    // Oldest first, as they were enqueued.
    for (const id of [...ids].reverse()) targets.push({ queue, id });
  }
  return targets;
}

async function move(
  { builtIns }: ConsoleContext,
  functionId: (typeof VERBS)[keyof typeof VERBS],
  { queue, id }: Target,
  payload: RawJson | undefined,
): Promise<StepOutcome> {
  const asked = objectText({ queue, message_id: id }, payload === undefined ? {} : { payload });
  try {
    const { redriven = 0 } = await builtIns.askOfText(functionId, asked);
    // It left in the meantime: another client was faster.
    return redriven > 0 ? 'done' : 'skipped';
  } catch {
    return 'failed';
  }
}
