// The adapter `builtin`: jobs in a local store, each move one transaction (`src/store/commands/queue`). It has every
// capability but `sharing`.

import { hostname } from 'node:os';
import { Refusal } from '../../../core/calls/refusal.ts';
import { integer, optional, text } from '../../../core/config-fields/fields.ts';
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
  areStoredSubscriptions,
  isGroupsPage,
  isJobRowOrNull,
  isJobsPage,
  isMigrateAnswer,
  isMovesAnswer,
  isOpenAnswer,
  isQueueStatsList,
} from '../../../generated/queue-shapes.ts';
import { ERROR_CODES, type ErrorCode } from '../../../protocol/frames/errors.ts';
import type { ErrorBody } from '../../../protocol/frames/frames.ts';
import { decodeAdvanced, decodeAnswers, encodeEnqueue, encodeStep } from '../../../store/commands/queue/codecs.ts';
import { encodeFramed, parseAs, toJson } from '../../../store/commands/queue/encoding.ts';
import type { Store, StoreReply } from '../../../store/thread/contract.ts';
import { KV_CONFIG, type KvConfig, locationOf } from '../../adapter-settings.ts';
import { type Advanced, defineQueueAdapter, type QueueAdapter } from './adapter.ts';
import type { DeadLetters, PublishTarget, TopicStore } from './capabilities.ts';
import { GatheredJobs, headerOfCopy, type SendBatch } from './new-jobs.ts';

/** Fields of the builtin adapter of `iii` that have no meaning here. */
const UNUSED = 'Accepted and not used: set it in queue_configs';

export const builtinQueues = defineQueueAdapter<KvConfig>(
  {
    name: 'builtin',
    aliases: [],
    classes: ['modules::queue::BuiltinQueueAdapter'],
    config: {
      ...KV_CONFIG,
      fields: new Map([
        ...KV_CONFIG.fields,
        ...['max_attempts', 'backoff_ms', 'concurrency', 'poll_interval_ms'].map(
          (name) => [name, optional(integer({ min: 0, help: UNUSED }))] as const,
        ),
        ['mode', optional(text({ help: UNUSED }))],
      ]),
    },
  },
  ({ stores, clock }, config) => builtinAdapter(stores.open(locationOf(config)), clock),
);

/** Another machine may have a directory of that name. */
function placeOf({ file_path: folder }: Store['details']): { readonly place?: string } {
  return folder === undefined ? {} : { place: `${hostname()} ${folder}` };
}

export function builtinAdapter(store: Store, clock: Pick<Clock, 'afterTurn'>): QueueAdapter {
  const gathered = new GatheredJobs(clock, sendBatch(store));
  return {
    name: 'builtin',
    localStore: store,
    idempotencyKeys: true,
    priorities: true,
    liveSettings: true,
    attemptHistory: true,
    waitCounts: true,
    get trouble() {
      return store.trouble;
    },
    ...placeOf(store.details),
    location: store.details,
    start: () => migrate(store),
    async open(queue, { isFifo }) {
      for (;;) {
        const opened = await runCommand(store, 'queue::open', toJson({ queue, isFifo }), isOpenAnswer);
        if (!opened.hasMore) return opened;
      }
    },
    enqueue: (queue, rules, job, done) => gathered.add(queue, rules, job, done),
    advance(step, done) {
      // Jobs that were enqueued before it are sent before it.
      gathered.flush(step.queue);
      advance(store, step, done);
    },
    wake: (queue, functionId) => moveAll(store, 'queue::wake', { queue, functionId }),
    stats: () => runCommand(store, 'queue::stats', toJson({}), isQueueStatsList),
    stop() {},
    deadLetters: deadLettersIn(store),
    topics: topicsIn(store),
    pausing: {
      async setPaused(queue, isPaused) {
        await runCommand(store, 'queue::pause', toJson({ queue, isPaused }));
      },
    },
    jobLookup: {
      find: (id, groupField) =>
        runCommand(
          store,
          'queue::job',
          toJson({ id, ...(groupField !== undefined && { groupField }) }),
          isJobRowOrNull,
        ),
    },
    jobList: {
      searchesPayloads: true,
      page: (input) => runCommand(store, 'queue::jobs', toJson(input), isJobsPage),
    },
    payloads: { read: (id) => readCommand(store, 'queue::payload', toJson({ id })) },
    groups: { page: (input) => runCommand(store, 'queue::groups', toJson(input), isGroupsPage) },
  };
}

function deadLettersIn(store: Store): DeadLetters {
  const move = (input: DeadMovesInput, payload: Uint8Array = Buffer.alloc(0)): Promise<number> =>
    runMoves((beforeDeath) =>
      runCommand(
        store,
        'queue::dead_moves',
        encodeFramed({ ...input, ...(beforeDeath !== undefined && { beforeDeath }) }, payload),
        isMovesAnswer,
      ),
    );
  return {
    list: async (page) => (await readCommand(store, 'queue::dead_list', toJson(page))) ?? Buffer.from('[]'),
    redrive: (queue, id, payload) => move({ queue, how: 'redrive', ...(id !== undefined && { id }) }, payload),
    discard: (queue, id) => move({ queue, how: 'discard', ...(id !== undefined && { id }) }),
  };
}

function topicsIn(store: Store): TopicStore {
  return {
    publish: (targets, data) => publish(store, targets, data),
    subscriptions: () => runCommand(store, 'queue::subscriptions', toJson({}), areStoredSubscriptions),
    async subscribe(subscription) {
      await runCommand(store, 'queue::subscribe', toJson(subscription));
    },
    async unsubscribe(topic, functionId) {
      await runCommand(store, 'queue::unsubscribe', toJson({ topic, functionId }));
    },
    handKeptTo: (from, to, functionId, rules) => moveAll(store, 'queue::kept_moves', { from, to, functionId, rules }),
    async forget(queue) {
      await runCommand(store, 'queue::forget', toJson({ queue }));
    },
  };
}

function moveAll(store: Store, command: string, input: unknown): Promise<number> {
  return runMoves((): Promise<MovesAnswer> => runCommand(store, command, toJson(input), isMovesAnswer));
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
    return { queue, rules, jobs: [{ facts: headerOfCopy(target), at: 0, bytes: data.length, ...delay, isKept }] };
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

function runCommand<T = void>(
  store: Store,
  command: string,
  input: Uint8Array,
  isShape?: (value: unknown) => value is T,
): Promise<T> {
  return new Promise((resolve, reject) => {
    store.run(command, input, ({ result, error }) => {
      if (error !== undefined) reject(refusalOf(error));
      else resolve(isShape === undefined ? (undefined as T) : parseAs(result ?? Buffer.from('null'), isShape));
    });
  });
}

/** The answer as bytes, valid indefinitely. */
function readCommand(store: Store, command: string, input: Uint8Array): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    store.run(command, input, ({ result, error }) => {
      if (error !== undefined) reject(refusalOf(error));
      else resolve(result);
    });
  });
}

/** Runs bounded commands until nothing is left to move. Resolves with how many moved. */
async function runMoves(next: (beforeDeath: number | undefined) => Promise<MovesAnswer>): Promise<number> {
  let moved = 0;
  for (let beforeDeath: number | undefined; ; ) {
    const answer = await next(beforeDeath);
    moved += answer.moved;
    if (!answer.hasMore) return moved;
    beforeDeath = answer.beforeDeath;
  }
}

function refusalOf({ code, message }: ErrorBody): Refusal {
  return new Refusal(Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'STORAGE_UNAVAILABLE', message);
}
