// The adapter `extstore`: jobs in Redis, which several engines may share. Each move is one script.
//
// An engine holds a lease, and with it the jobs that it was handed. It renews the lease while it lives; an engine that
// finds an expired lease returns the jobs of that lease (R2). An outcome counts only with the token of its hand-over
// (Q8).
// Invariants:
//   - A step that Redis has not answered is sent again until it has, so that no outcome is lost. It carries its number,
//     and a script that gets it twice hands out the same jobs again.
//   - A job is refused when Redis is away (K3). If the connection broke meanwhile, its fate is unknown.

import { Refusal } from '../../../../core/calls/refusal.ts';
import type { EnqueueAnswer } from '../../../../core/queue/shapes.ts';
import type { Clock } from '../../../../effects/clock.ts';
import type { Logger } from '../../../../effects/logger.ts';
import type { RedisLink, RedisOptions } from '../../../../effects/redis.ts';
import type { RedisScript } from '../../../../effects/redis-script.ts';
import { StartFailure } from '../../../../effects/start-failure.ts';
import { isStoredSubscription } from '../../../../generated/queue-shapes.ts';
import { parseAs } from '../../../../store/commands/queue/encoding.ts';
import { readReceipt } from '../../../../store/commands/queue/receipt.ts';
import { readRedisSetup, weakerPromises } from '../../../../store/redis/settings-check.ts';
import type { QueueAdapter } from '../adapter.ts';
import type { DeadLetters, JobList, JobLookup, Pausing, PublishTarget, Sharing, TopicStore } from '../capabilities.ts';
import { GatheredJobs, headerOfCopy, ONE_GROUP, placementOf, type SendBatch } from '../new-jobs.ts';
import {
  END_LEASE,
  FIND_JOB,
  LIST_DEAD,
  LIST_JOBS,
  MOVE_DEAD,
  MOVE_KEPT,
  OPEN_QUEUE,
  PARKED,
  PAUSE,
  RENEW_LEASE,
  STATS,
  WAKE,
} from './admin-scripts.ts';
import { ADVANCE, batchArguments, ENQUEUE, type GroupOfJobs, type JobArguments, jobArguments } from './job-scripts.ts';
import { Lease } from './lease.ts';
import * as replies from './replies.ts';
import { TIMELINE_SCRIPTS, Timeline } from './timeline.ts';

export const QUEUE_SCRIPTS: readonly RedisScript[] = [
  ...[ENQUEUE, ADVANCE, OPEN_QUEUE, WAKE, PARKED, PAUSE, STATS, FIND_JOB, LIST_JOBS],
  ...[RENEW_LEASE, END_LEASE, MOVE_KEPT, LIST_DEAD, MOVE_DEAD],
  ...TIMELINE_SCRIPTS,
];

export interface RedisQueueOptions {
  /** Rejects with a `StartFailure` when the settings can never work. */
  readonly createLink: (options: Required<Pick<RedisOptions, 'scripts' | 'onConnect' | 'onUp'>>) => Promise<RedisLink>;
  /** The prefix of every key and channel. */
  readonly keyPrefix: string;
  readonly place: string;
  readonly leaseMs: number;
  /** A unique id of this start of this engine. */
  readonly engine: string;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The format of the records: another number is refused. */
const FORMAT = '1';
/** The limit of one script. */
const MOVES_MAX = 200;
const CLAIM_BYTES_MAX = 4 * 1024 * 1024;
const STEP_AGAIN_MS = 200;
/** A Redis that does not answer must not delay the end of the engine (G1). */
const STOP_MS_MAX = 2_000;

export class RedisQueues implements QueueAdapter {
  readonly name = 'extstore';
  readonly idempotencyKeys = true;
  readonly priorities = true;
  readonly liveSettings = true;
  readonly waitCounts = true;
  readonly #options: RedisQueueOptions;
  readonly #base: string;
  readonly #gathered: GatheredJobs;
  readonly #lease: Lease;
  readonly recovery: Timeline;
  #changed: (queue: string) => void = () => {};
  readonly #opened = new Set<string>();
  #link: RedisLink | undefined;
  #weaker: readonly string[] = [];
  #salt = 0;
  #lastStep = 0;
  #isStopped = false;

  readonly sharing: Sharing = {
    mayHandOver: () => this.#lease.isHeld,
    parkedElsewhere: async (queue) => replies.listIn(await this.#run(PARKED, queue)).map(replies.textIn),
  };

  readonly pausing: Pausing = {
    setPaused: async (queue, isPaused) => {
      await this.#run(PAUSE, queue, isPaused ? 1 : 0);
    },
  };

  readonly jobLookup: JobLookup = {
    find: async (id) => {
      const receipt = readReceipt(id);
      if (receipt === undefined) return null;
      const row = await this.#run(FIND_JOB, receipt.queue, receipt.seq);
      const found = row === null ? null : replies.readJobRow(row, receipt.queue, this.#salt);
      return found?.messageReceiptId === id ? found : null;
    },
  };

  readonly jobList: JobList = {
    searchesPayloads: false,
    page: async ({ queue, after = '0', limit }) => {
      const [number, rows] = replies.listIn(await this.#run(LIST_JOBS, queue, after, limit));
      const found = replies.listIn(rows).map((row) => replies.readJobRow(row, replies.numberIn(number), this.#salt));
      const last = readReceipt(found.at(-1)?.messageReceiptId ?? '');
      return { rows: found, ...(found.length === limit && last !== undefined && { next: String(last.seq) }) };
    },
  };

  readonly deadLetters: DeadLetters = {
    list: async (page) => {
      const { queue, offset, limit, id, withoutPayload } = page;
      const seq = id === undefined ? '' : this.#seqOf(id);
      const without = withoutPayload === true ? 1 : 0;
      const reply = await this.#run(LIST_DEAD, queue, offset, limit, seq, CLAIM_BYTES_MAX, without);
      return replies.deadListOf(reply, page, this.#salt);
    },
    redrive: (queue, id, payload) => this.#moveDead(queue, 'redrive', id, payload),
    discard: (queue, id) => this.#moveDead(queue, 'discard', id),
  };

  readonly topics: TopicStore = {
    publish: (targets, data) => this.#publish(targets, data),
    subscriptions: async () => {
      const stored = replies.listIn(await this.#command('HVALS', `${this.#base}subs`));
      return stored.map((one) => parseAs(replies.bytesIn(one), isStoredSubscription));
    },
    subscribe: async (stored) => {
      const field = `${stored.topic}\n${stored.functionId}`;
      await this.#command('HSET', `${this.#base}subs`, field, JSON.stringify(stored));
    },
    unsubscribe: async (topic, functionId) => {
      await this.#command('HDEL', `${this.#base}subs`, `${topic}\n${functionId}`);
    },
    handKeptTo: async (from, to, functionId, rules) => {
      const group = rules.isOneGroup === true ? ONE_GROUP : '';
      const limits = [rules.maxJobs, rules.maxDeadLetters];
      return await this.#moveAll(() => this.#run(MOVE_KEPT, from, to, functionId, MOVES_MAX, group, ...limits));
    },
    // An empty queue takes a few bytes in Redis, and other engines may still use it.
    forget: async () => {},
  };

  constructor(options: RedisQueueOptions) {
    const { keyPrefix, clock, logger, leaseMs, engine } = options;
    this.#options = options;
    this.#base = `${keyPrefix}queue:`;
    this.#gathered = new GatheredJobs(clock, this.#sendBatch);
    const renew = async (): Promise<number> => {
      const [changed, leftMs, isHeldBack] = replies.listIn(await this.#run(RENEW_LEASE, engine, leaseMs));
      for (const queue of replies.listIn(changed)) this.#changed(replies.textIn(queue));
      this.recovery.noteHeldBack(replies.numberIn(isHeldBack) === 1);
      return replies.numberIn(leftMs);
    };
    this.#lease = new Lease({ leaseMs, clock, renew });
    this.recovery = new Timeline({
      run: (script, ...args) => this.#run(script, ...args),
      ...{ engine, clock, logger, newPeriod: options.newId, format: FORMAT },
      salt: () => this.#salt,
      adoptSalt: (salt) => {
        this.#salt = salt;
      },
      resumed: () => {
        for (const queue of this.#opened) this.#changed(queue);
      },
    });
  }

  get trouble(): string | undefined {
    return this.#link === undefined ? 'not started' : this.#link.trouble;
  }

  get place(): string {
    return this.#options.place;
  }

  get location(): Readonly<Record<string, string>> {
    if (this.#link === undefined) return {};
    const { address } = this.#link;
    return { address, ...(this.#weaker.length > 0 && { weaker_promise: this.#weaker.join('; ') }) };
  }

  async start(changed: (queue: string) => void): Promise<void> {
    this.#changed = changed;
    let isOpen = false;
    const link = await this.#options.createLink({
      scripts: QUEUE_SCRIPTS,
      // If it fails, the connection is lost again.
      onConnect: (awayMs) => void (isOpen && this.recovery.report(awayMs).catch(() => {})),
      onUp: () => this.#isUp(link),
    });
    this.#link = link;
    try {
      await link.open();
      await this.#readStore(link);
      isOpen = true;
      await this.recovery.report(0);
      await link.subscribe(`${this.#base}news`, (queue) => changed(queue.toString('utf8')));
      await this.#lease.hold();
    } catch (error) {
      this.#lease.end();
      link.close();
      throw error;
    }
  }

  async open(queue: string, { isFifo }: { readonly isFifo: boolean }) {
    this.#opened.add(queue);
    const [isRefused, functions] = replies.listIn(await this.#run(OPEN_QUEUE, queue, isFifo ? 1 : 0));
    const parkedFunctions = replies.listIn(functions).map(replies.textIn);
    return { isRefused: replies.numberIn(isRefused) === 1, parkedFunctions };
  }

  enqueue: QueueAdapter['enqueue'] = (queue, rules, job, done) => this.#gathered.add(queue, rules, job, done);

  advance: QueueAdapter['advance'] = (step, done) => {
    const number = ++this.#lastStep;
    const { queue, claim, deliveriesMax, unroutableTtlMs, settled } = step;
    const limits = [claim, deliveriesMax, unroutableTtlMs, CLAIM_BYTES_MAX, settled.length];
    const outcomes = replies.outcomeArguments(step);
    const send = (isRepeat: boolean) =>
      this.#run(ADVANCE, queue, this.#options.engine, number, isRepeat ? 1 : 0, ...limits, ...outcomes);
    const { clock } = this.#options;
    this.#sendUntilAnswered(send, (reply) => {
      const { number: change, isHeldBack, atMs } = replies.positionIn(reply);
      this.recovery.noteHeldBack(isHeldBack);
      this.recovery.noteChange(change, atMs);
      done(replies.readAdvanced(reply, this.#salt, clock.monotonicMs()));
    });
  };

  async wake(queue: string, functionId: string): Promise<number> {
    return await this.#moveAll(() => this.#run(WAKE, queue, functionId, MOVES_MAX));
  }

  async stats() {
    return replies.listIn(await this.#run(STATS)).map(replies.readStats);
  }

  /** Its unfinished jobs are free for other engines at once. */
  async stop(): Promise<void> {
    this.#lease.end();
    this.recovery.stop();
    this.#isStopped = true;
    const link = this.#link;
    if (link === undefined) return;
    const { clock, engine } = this.#options;
    // After the last outcomes, on the same connection: when this is answered, they are kept.
    const cancel = clock.after(STOP_MS_MAX, () => link.close());
    await this.#run(END_LEASE, engine).catch(() => {});
    cancel();
    link.close();
  }

  async #publish(targets: readonly PublishTarget[], data: Uint8Array): Promise<void> {
    const payload = Buffer.from(data);
    const groups = targets.map((target): GroupOfJobs => {
      const { queue, rules, delayMs, isKept } = target;
      const placement = placementOf(queue, rules, undefined, payload);
      if ('reason' in placement) throw new Refusal('enqueue_error', placement.message);
      return {
        queue,
        rules,
        jobs: [jobArguments({ facts: headerOfCopy(target), delayMs, isKept }, placement, payload)],
      };
    });
    for (const answer of this.#answersIn(await this.#run(ENQUEUE, ...batchArguments(groups, true)))) {
      const read = replies.readAnswer(answer, targets[0]?.queue ?? '', this.#salt);
      if ('reason' in read) throw new Refusal('enqueue_error', read.message);
    }
  }

  /** Of `ENQUEUE`. */
  #answersIn(reply: replies.Reply): readonly replies.Reply[] {
    const [change, answers] = replies.listIn(reply);
    this.recovery.noteChange(replies.numberIn(change));
    return replies.listIn(answers);
  }

  /** So that no outcome is lost. `isRepeat`: the step may have been carried out before. */
  #sendUntilAnswered(send: (isRepeat: boolean) => Promise<replies.Reply>, done: (reply: replies.Reply) => void): void {
    const { clock, logger } = this.#options;
    const attempt = (isRepeat: boolean): void => {
      send(isRepeat).then(done, (error: unknown) => {
        if (this.#isStopped) return;
        if (!isRepeat) logger.warn('A step of a queue waits for Redis', { error: replies.messageOf(error) });
        clock.after(STEP_AGAIN_MS, () => attempt(true));
      });
    };
    attempt(false);
  }

  #sendBatch: SendBatch = ({ queue, rules, jobs, payloads }, done) => {
    const answers: EnqueueAnswer[] = [];
    const kept: number[] = [];
    const operands: JobArguments[] = [];
    jobs.forEach((job, index) => {
      const payload = Buffer.from(payloads[index] ?? []);
      const placement = placementOf(queue, rules, job.priority, payload);
      if ('reason' in placement) answers[index] = placement;
      else {
        kept.push(index);
        operands.push(jobArguments(job, placement, payload));
      }
    });
    if (kept.length === 0) return done(answers);
    this.#run(ENQUEUE, ...batchArguments([{ queue, rules, jobs: operands }], false)).then(
      (reply) => {
        this.#answersIn(reply).forEach((answer, index) => {
          answers[kept[index] ?? 0] = replies.readAnswer(answer, queue, this.#salt);
        });
        done(answers);
      },
      (error: unknown) => {
        const reason = error instanceof Refusal && error.code === 'STORAGE_FULL' ? error.code : 'STORAGE_UNAVAILABLE';
        for (const index of kept) answers[index] = { reason, message: replies.messageOf(error) };
        done(answers);
      },
    );
  };

  /** After a restart other settings may be in force, and the lease may have ended meanwhile. */
  #isUp(link: RedisLink): void {
    void this.#lease.hold().catch(() => {});
    readRedisSetup(link).then(
      (facts) => {
        const known = this.#weaker;
        this.#weaker = weakerPromises(facts);
        if (this.#weaker.length === 0 || this.#weaker.join() === known.join()) return;
        const text = 'Redis promises less for queues than it could';
        this.#options.logger.warn(text, { address: facts.address, weaker_promise: this.#weaker });
      },
      // It is away again: this is repeated the next time it is up.
      () => {},
    );
  }

  async #readStore(link: RedisLink): Promise<void> {
    const store = `${this.#base}store`;
    await link.run(['HSETNX', store, 'v', FORMAT]);
    await link.run(['HSETNX', store, 'salt', String(Number.parseInt(this.#options.engine.slice(0, 4), 16))]);
    const [format, salt] = replies.listIn(await link.run(['HMGET', store, 'v', 'salt']));
    if (replies.textIn(format) !== FORMAT) {
      const text = `The queues in Redis at ${link.address} have the format ${replies.textIn(format)}`;
      throw new StartFailure(78, `${text}; this engine reads ${FORMAT}`);
    }
    this.#salt = replies.numberIn(salt);
  }

  /** Runs a bounded script until nothing is left to move. */
  async #moveAll(move: () => Promise<replies.Reply>): Promise<number> {
    for (let moved = 0; ; ) {
      const count = replies.numberIn(await move());
      moved += count;
      if (count < MOVES_MAX) return moved;
    }
  }

  async #moveDead(queue: string, how: 'redrive' | 'discard', id?: string, payload?: Uint8Array): Promise<number> {
    const edited = payload === undefined ? [0, ''] : [1, Buffer.from(payload)];
    const seq = id === undefined ? '' : this.#seqOf(id);
    for (let moved = 0, before = ''; ; ) {
      const [count, hasMore, next] = replies.listIn(
        await this.#run(MOVE_DEAD, queue, how, seq, before, MOVES_MAX, ...edited),
      );
      moved += replies.numberIn(count);
      if (replies.numberIn(hasMore) === 0) return moved;
      before = replies.textIn(next);
    }
  }

  /** A number that no job has, for an id that is not a receipt of this store: the number may belong to another job. */
  #seqOf(id: string): string {
    const receipt = readReceipt(id);
    return String(receipt?.salt === this.#salt ? receipt.seq : 0);
  }

  async #run(script: RedisScript, ...args: readonly (string | number | Buffer)[]): Promise<replies.Reply> {
    if (this.#link === undefined) throw NOT_STARTED;
    const operands = args.map((arg) => (typeof arg === 'number' ? String(arg) : arg));
    return await this.#link.runScript(script, [this.#base], operands);
  }

  async #command(...args: readonly string[]): Promise<replies.Reply> {
    if (this.#link === undefined) throw NOT_STARTED;
    return await this.#link.run(args);
  }
}

const NOT_STARTED = new Refusal('STORAGE_UNAVAILABLE', 'The Redis of the queues is not connected yet');
