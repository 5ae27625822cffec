// The adapter `builtin`: jobs in a local store, each move one transaction (`src/store/commands/queue`).

import type {
  AdvanceInput,
  DeadMovesInput,
  EnqueueAnswer,
  EnqueueGroup,
  EnqueueInput,
  EnqueueReason,
  MovesAnswer,
} from '../../../core/queue/shapes.ts';
import type { Clock } from '../../../effects/clock.ts';
import { StartFailure } from '../../../effects/start-failure.ts';
import {
  isGroupsPage,
  isJobRowOrNull,
  isJobsPage,
  isMigrateAnswer,
  isMovesAnswer,
  isOpenAnswer,
  isQueueStatsList,
  isSubscriptionMarks,
} from '../../../generated/queue-shapes.ts';
import type { ErrorBody } from '../../../protocol/frames/frames.ts';
import { decodeAdvanced, encodeStep } from '../../../store/commands/queue/advance-codec.ts';
import { decodeAnswers, encodeEnqueue } from '../../../store/commands/queue/enqueue-codec.ts';
import { encodeFramed } from '../../../store/commands/queue/framed.ts';
import { toJson } from '../../../store/commands/queue/marks.ts';
import type { Store, StoreReply } from '../../../store/thread/contract.ts';
import type { Advanced, PublishTarget, QueueAdapter } from './adapter.ts';
import { GatheredJobs, type SendBatch } from './gathered-jobs.ts';
import { publishFacts } from './publish-facts.ts';
import { readCommand, runCommand, runMoves } from './store-commands.ts';

export function builtinAdapter(store: Store, clock: Pick<Clock, 'afterTurn'>): QueueAdapter {
  const gathered = new GatheredJobs(clock, sendBatch(store));
  const move = (input: DeadMovesInput, payload: Uint8Array = Buffer.alloc(0)): Promise<number> =>
    runMoves((beforeDeath) =>
      runCommand(
        store,
        'queue::dead_moves',
        encodeFramed({ ...input, ...(beforeDeath !== undefined && { beforeDeath }) }, payload),
        isMovesAnswer,
      ),
    );
  const moves = (command: string, input: unknown): Promise<number> =>
    runMoves((): Promise<MovesAnswer> => runCommand(store, command, toJson(input), isMovesAnswer));
  return {
    name: 'builtin',
    isOrdered: true,
    store,
    get trouble() {
      return store.trouble;
    },
    facts: store.facts,
    start: () => migrate(store),
    async open(queue, { isFifo }) {
      for (;;) {
        const opened = await runCommand(store, 'queue::open', toJson({ queue, isFifo }), isOpenAnswer);
        if (!opened.hasMore) return opened;
      }
    },
    enqueue: (queue, rules, job, done) => gathered.add(queue, rules, job, done),
    publish: (targets, data) => publish(store, targets, data),
    advance(step, done) {
      // Jobs that were enqueued before it are sent before it.
      gathered.flush(step.queue);
      advance(store, step, done);
    },
    wake: (queue, functionId) => moves('queue::wake', { queue, functionId }),
    async setPaused(queue, isPaused) {
      await runCommand(store, 'queue::pause', toJson({ queue, isPaused }));
    },
    stats: () => runCommand(store, 'queue::stats', toJson({}), isQueueStatsList),
    findsInPayloads: true,
    job: (id, groupField) =>
      runCommand(store, 'queue::job', toJson({ id, ...(groupField !== undefined && { groupField }) }), isJobRowOrNull),
    payload: (id) => readCommand(store, 'queue::payload', toJson({ id })),
    groups: (input) => runCommand(store, 'queue::groups', toJson(input), isGroupsPage),
    jobs: (page) => runCommand(store, 'queue::jobs', toJson(page), isJobsPage),
    deadLetters: async (page) => (await readCommand(store, 'queue::dead_list', toJson(page))) ?? Buffer.from('[]'),
    redrive: (queue, id, payload) => move({ queue, how: 'redrive', ...(id !== undefined && { id }) }, payload),
    discard: (queue, id) => move({ queue, how: 'discard', ...(id !== undefined && { id }) }),
    subscriptions: () => runCommand(store, 'queue::subscriptions', toJson({}), isSubscriptionMarks),
    async subscribe(mark) {
      await runCommand(store, 'queue::subscribe', toJson(mark));
    },
    async unsubscribe(topic, functionId) {
      await runCommand(store, 'queue::unsubscribe', toJson({ topic, functionId }));
    },
    async forget(queue) {
      await runCommand(store, 'queue::forget', toJson({ queue }));
    },
    handKeptTo: (from, to, functionId, rules) => moves('queue::kept_moves', { from, to, functionId, rules }),
    stop() {},
  };
}

async function migrate(store: Store): Promise<void> {
  for (let from = { queue: 1, seq: 0, hasMore: true }; from.hasMore; ) {
    const { queue, seq } = from;
    from = await runCommand(store, 'queue::migrate', toJson({ queue, seq }), isMigrateAnswer).catch(refuseStart);
  }
}

async function publish(store: Store, targets: readonly PublishTarget[], data: Uint8Array): Promise<void> {
  const groups = targets.map((target): EnqueueGroup => {
    const { queue, rules, delayMs, isKept } = target;
    const delay = delayMs > 0 ? { delayMs } : {};
    return { queue, rules, jobs: [{ facts: publishFacts(target), at: 0, bytes: data.length, ...delay, isKept }] };
  });
  const input: EnqueueInput = { groups, isAllOrNone: true };
  await runCommand(store, 'queue::enqueue', encodeEnqueue(input, data));
}

/** Jobs that this version cannot read are left for a version that can. */
function refuseStart(error: unknown): never {
  throw new StartFailure(74, error instanceof Error ? error.message : String(error));
}

function advance(store: Store, step: AdvanceInput, done: (answer: Advanced | undefined) => void): void {
  const answer = ({ result, error }: StoreReply): void =>
    done(result === undefined || error !== undefined ? undefined : decodeAdvanced(result));
  store.run('queue::advance', encodeStep(step), answer, { callers: Math.max(1, step.settled.length) });
}

function sendBatch(store: Store): SendBatch {
  return ({ queue, rules, jobs, payloads }, done) => {
    const input: EnqueueInput = { groups: [{ queue, rules, jobs: [...jobs] }], isAllOrNone: false };
    const answer = ({ result, error }: StoreReply): void => {
      if (error !== undefined || result === undefined) done(jobs.map(() => refusedBy(error)));
      else done(decodeAnswers(result));
    };
    store.run('queue::enqueue', encodeEnqueue(input, ...payloads), answer, { callers: jobs.length });
  };
}

function refusedBy(error: ErrorBody | undefined): EnqueueAnswer {
  const reason: EnqueueReason = error?.code === 'STORAGE_FULL' ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE';
  return { reason, message: error?.message ?? 'The store gave no answer' };
}
