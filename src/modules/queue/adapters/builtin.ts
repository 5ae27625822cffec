// The adapter `builtin`: jobs in a store of this machine, each move one transaction (`src/store/queue`).

import type { EnqueueAnswers } from '../../../core/queue/records.ts';
import type {
  AdvanceInput,
  DeadMovesInput,
  EnqueueAnswer,
  EnqueueGroup,
  EnqueueInput,
  EnqueueReason,
  EnqueueRules,
  MovesAnswer,
  NewJob,
} from '../../../core/queue/shapes.ts';
import type { Clock } from '../../../effects/clock.ts';
import {
  isAdvanceAnswer,
  isEnqueueAnswers,
  isJobRowOrNull,
  isJobRows,
  isMovesAnswer,
  isOpenAnswer,
  isQueueStatsList,
  isSubscriptionMarks,
} from '../../../generated/queue-shapes.ts';
import type { ErrorBody } from '../../../protocol/frames.ts';
import type { Store } from '../../../store/contract.ts';
import { decodeFramed, encodeFramed } from '../../../store/queue/framed.ts';
import { parseAs, toJson } from '../../../store/queue/marks.ts';
import type { Advanced, JobToKeep, QueueAdapter } from './adapter.ts';
import { refusalOf, runCommand, runMoves } from './store-commands.ts';

const NULL = Buffer.from('null');
/** Of one command: others of the batch wait for it. */
const JOBS_PER_COMMAND = 128;
const BYTES_PER_COMMAND = 1024 * 1024;

export function builtinAdapter(store: Store, clock: Pick<Clock, 'afterTurn'>): QueueAdapter {
  const gathered = new GatheredJobs(store, clock);
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
    get trouble() {
      return store.trouble;
    },
    facts: store.facts,
    async start() {},
    async open(queue, { isFifo }) {
      for (;;) {
        const opened = await runCommand(store, 'queue::open', toJson({ queue, isFifo }), isOpenAnswer);
        if (!opened.hasMore) return opened;
      }
    },
    enqueue: (queue, rules, job, done) => gathered.add(queue, rules, job, done),
    async publish(targets, data) {
      const groups = targets.map(({ queue, rules, functionId, delayMs, isKept }): EnqueueGroup => {
        const delay = delayMs > 0 ? { delayMs } : {};
        return { queue, rules, jobs: [{ facts: { functionId }, at: 0, bytes: data.length, ...delay, isKept }] };
      });
      const input: EnqueueInput = { groups, isAllOrNone: true };
      await runCommand(store, 'queue::enqueue', encodeFramed(input, data), isEnqueueAnswers);
    },
    advance: (step, done) => advance(store, step, done),
    wake: (queue, functionId) => moves('queue::wake', { queue, functionId }),
    async setPaused(queue, isPaused) {
      await runCommand(store, 'queue::pause', toJson({ queue, isPaused }));
    },
    stats: () => runCommand(store, 'queue::stats', toJson({}), isQueueStatsList),
    job: (id) => runCommand(store, 'queue::job', toJson({ id }), isJobRowOrNull),
    jobs: (page) => runCommand(store, 'queue::jobs', toJson(page), isJobRows),
    deadLetters: (page) =>
      new Promise((resolve, reject) => {
        store.run('queue::dead_list', toJson(page), ({ result, error }) => {
          if (error !== undefined) reject(refusalOf(error));
          else resolve(result ?? Buffer.from('[]'));
        });
      }),
    redrive: (queue, id, payload) => move({ queue, how: 'redrive', ...(id !== undefined && { id }) }, payload),
    discard: (queue, id) => move({ queue, how: 'discard', ...(id !== undefined && { id }) }),
    subscriptions: () => runCommand(store, 'queue::subscriptions', toJson({}), isSubscriptionMarks),
    async subscribe(mark) {
      await runCommand(store, 'queue::subscribe', toJson(mark));
    },
    async unsubscribe(topic, functionId) {
      await runCommand(store, 'queue::unsubscribe', toJson({ topic, functionId }));
    },
    handKeptTo: (from, to, functionId, rules) => moves('queue::kept_moves', { from, to, functionId, rules }),
    stop() {},
  };
}

function advance(store: Store, step: AdvanceInput, done: (answer: Advanced | undefined) => void): void {
  store.run('queue::advance', toJson(step), ({ result, error }) => {
    if (result === undefined || error !== undefined) return done(undefined);
    const { head, body } = decodeFramed(result);
    if (!isAdvanceAnswer(head)) throw new Error('The store answered a step with something else');
    const jobs = head.jobs.map((job) => ({ ...job, payload: body.subarray(job.at, job.at + job.bytes) }));
    done({ ...head, jobs });
  });
}

interface Gathering {
  readonly rules: EnqueueRules;
  readonly jobs: NewJob[];
  readonly payloads: Uint8Array[];
  readonly waiting: ((answer: EnqueueAnswer) => void)[];
  bytes: number;
}

/** Jobs that are enqueued in one turn travel as one command of their queue. */
class GatheredJobs {
  readonly #store: Store;
  readonly #clock: Pick<Clock, 'afterTurn'>;
  readonly #byQueue = new Map<string, Gathering>();
  #isFlushDue = false;

  constructor(store: Store, clock: Pick<Clock, 'afterTurn'>) {
    this.#store = store;
    this.#clock = clock;
  }

  add(queue: string, rules: EnqueueRules, job: JobToKeep, done: (answer: EnqueueAnswer) => void): void {
    const bytes = job.payload === undefined ? NULL : job.payload.asJsonBytes();
    if (bytes === undefined) {
      done({ reason: 'INVALID_ARGUMENTS', message: 'The payload is not JSON, or nested too deep' });
      return;
    }
    const known = this.#byQueue.get(queue);
    const gathering = known ?? { rules, jobs: [], payloads: [], waiting: [], bytes: 0 };
    if (known === undefined) this.#byQueue.set(queue, gathering);
    const { facts, delayMs, priority, idempotencyKey } = job;
    gathering.jobs.push({
      facts,
      at: gathering.bytes,
      bytes: bytes.length,
      ...(delayMs !== undefined && { delayMs }),
      ...(priority !== undefined && { priority }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
    // The payload is a view of a message that is gone when the turn ends.
    gathering.payloads.push(Buffer.from(bytes));
    gathering.waiting.push(done);
    gathering.bytes += bytes.length;
    if (gathering.jobs.length >= JOBS_PER_COMMAND || gathering.bytes >= BYTES_PER_COMMAND) this.#flush(queue);
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    this.#clock.afterTurn(() => {
      this.#isFlushDue = false;
      for (const name of [...this.#byQueue.keys()]) this.#flush(name);
    });
  }

  #flush(queue: string): void {
    const gathering = this.#byQueue.get(queue);
    if (gathering === undefined) return;
    this.#byQueue.delete(queue);
    const { rules, jobs, payloads, waiting } = gathering;
    const input: EnqueueInput = { groups: [{ queue, rules, jobs }], isAllOrNone: false };
    this.#store.run('queue::enqueue', encodeFramed(input, ...payloads), ({ result, error }) => {
      const answers: EnqueueAnswers =
        error !== undefined || result === undefined
          ? waiting.map(() => refusedBy(error))
          : parseAs(result, isEnqueueAnswers);
      waiting.forEach((done, index) => done(answers[index] ?? refusedBy(undefined)));
    });
  }
}

function refusedBy(error: ErrorBody | undefined): EnqueueAnswer {
  const reason: EnqueueReason = error?.code === 'STORAGE_FULL' ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE';
  return { reason, message: error?.message ?? 'The store gave no answer' };
}
