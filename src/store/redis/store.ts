// A store in Redis, which other engines may use at the same time. Values, replies and limits are those of the local
// stores; shared code lies in `../commands/state` and `../commands/stream`.
//
// Invariants:
//   - Every `done` is called exactly once, after Redis has answered, and never within `run`.
//   - While Redis is away every command fails at once; none is kept for later (K3).

import { Refusal } from '../../core/calls/refusal.ts';
import type { Counters } from '../../core/registry/counters.ts';
import type { UpdateAnswer, UpdateTask } from '../../core/update-ops/update-task.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { Random } from '../../effects/random.ts';
import type { RedisLink } from '../../effects/redis.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import {
  type GroupRef,
  type GroupWatcher,
  OVERLOADED,
  type RunOptions,
  STORE_LIMITS,
  type Store,
  type StoreLimits,
  type StoreReply,
  Waiting,
} from '../thread/contract.ts';
import { Lanes, type RedisCommand } from './commands.ts';
import { STATE_SCRIPTS } from './entry-scripts.ts';
import { updateEvaluator } from './evaluate-update.ts';
import { RedisOutbox } from './outbox.ts';
import { OUTBOX_SCRIPTS } from './outbox-scripts.ts';
import { tagMaker } from './record.ts';
import { readRedisSetup, weakerPromises } from './settings-check.ts';
import { stateCommands } from './state.ts';
import { stateJobBody } from './state-writes.ts';
import { beginEpoch, readEventsFrom, streamReads } from './stream-reads.ts';
import { STREAM_SCRIPTS } from './stream-scripts.ts';
import { streamJobBody, streamWrites } from './stream-writes.ts';
import { WatchedGroups } from './watched-groups.ts';

export interface RedisStoreOptions {
  /** Throws a `StartFailure` when the settings can never work. */
  readonly url: () => string;
  readonly keyPrefix: string;
  /** The owner of the store, for its keys, the log and Redis's list of clients. */
  readonly purpose: 'state' | 'streams';
  readonly limits: Partial<StoreLimits>;
  readonly isDropIn: boolean;
  /** Whether `watch` will be used, which needs a connection of its own. */
  readonly isWatched: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly counters: Pick<Counters, 'count'>;
  /** On another thread. */
  readonly evaluateUpdate: (task: UpdateTask) => Promise<UpdateAnswer>;
}

type Done = (reply: StoreReply) => void;

/** Other modules already serve while this one waits for its turn to start. */
const NOT_STARTED: ErrorBody = { code: 'STORAGE_UNAVAILABLE', message: 'The Redis of this store is not connected yet' };

export class RedisStore implements Store {
  readonly #options: RedisStoreOptions;
  readonly #limits: StoreLimits;
  readonly #waiting = new Waiting();
  readonly #commands = new Map<string, RedisCommand>();
  #link: RedisLink | undefined;
  #groups: WatchedGroups | undefined;
  #weaker: readonly string[] = [];

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    this.#limits = { ...STORE_LIMITS, ...options.limits };
  }

  get trouble(): string | undefined {
    return this.#link === undefined ? 'not started' : this.#link.trouble;
  }

  get details(): Readonly<Record<string, string>> {
    if (this.#link === undefined) return {};
    const { address } = this.#link;
    return { address, ...(this.#weaker.length > 0 && { weaker_promise: this.#weaker.join('; ') }) };
  }

  /** Waits 60 s for a Redis that is away (K3). Rejects with a `StartFailure`, and then nothing of it remains. */
  async start(): Promise<void> {
    const { url, purpose, clock, logger, keyPrefix, random, isWatched, isDropIn } = this.#options;
    const scripts = [...STATE_SCRIPTS, ...STREAM_SCRIPTS, ...OUTBOX_SCRIPTS];
    const { RedisLink } = await import('../../effects/redis.ts');
    const link = new RedisLink({ url: url(), purpose, clock, logger, scripts, onUp: () => this.#isUp(link) });
    this.#link = link;
    const newTag = tagMaker(random.uuid(), () => clock.nowMs());
    const evaluate = updateEvaluator(this.#options.evaluateUpdate);
    const redis = { link, keyPrefix, lanes: new Lanes(), newTag, evaluate };
    const jobBody = purpose === 'state' ? stateJobBody : streamJobBody;
    const outbox = new RedisOutbox({
      ...redis,
      owner: purpose,
      bodyOf: (change, values) => jobBody(change, values, isDropIn),
    });
    const context = () => ({ nowMs: clock.nowMs(), limits: this.#limits });
    const groups = new WatchedGroups({
      link,
      keyPrefix,
      logger,
      eventsFrom: (ref, seq) => readEventsFrom(redis, ref, seq, context()),
      beginEpoch: () => beginEpoch(redis),
    });
    this.#groups = groups;
    const commands = {
      ...stateCommands(redis, outbox),
      ...streamReads(redis, groups),
      ...streamWrites(redis, groups, outbox),
      ...outbox.commands,
    };
    for (const [name, command] of Object.entries(commands)) this.#commands.set(name, command);
    await link.open();
    if (isWatched) await link.listen();
  }

  stop(): void {
    this.#link?.close();
  }

  run(command: string, input: Uint8Array, done: Done, { wantsEvents = true, trace }: RunOptions = {}): void {
    const { clock, counters, isDropIn } = this.#options;
    if (this.#link === undefined) {
      clock.afterTurn(() => done({ error: NOT_STARTED }));
      return;
    }
    const run = this.#commands.get(command);
    if (run === undefined) throw new Error(`There is no command ${command} in a Redis`);
    if (!this.#waiting.enter(input.length)) {
      counters.count('store.refused', 'overloaded');
      clock.afterTurn(() => done({ error: OVERLOADED }));
      return;
    }
    const bytes = Buffer.from(input);
    const context = { nowMs: clock.nowMs(), epoch: '', isDropIn, wantsEvents, trace, limits: this.#limits };
    const answer = (reply: StoreReply): void => {
      this.#waiting.leave(1, bytes.length);
      this.#answer(done, reply);
    };
    run(bytes, context).then(answer, (error: unknown) => answer({ error: this.#errorOf(command, error) }));
  }

  watch(ref: GroupRef, watcher: GroupWatcher): () => void {
    if (this.#groups === undefined) throw new Error('A store is watched after its start');
    return this.#groups.watch(ref, watcher);
  }

  /** After a restart other settings may be in force, and events were missed. */
  #isUp(link: RedisLink): void {
    this.#groups?.fillAll();
    readRedisSetup(link).then(
      (details) => {
        const known = this.#weaker;
        this.#weaker = weakerPromises(details);
        if (this.#weaker.length === 0 || this.#weaker.join() === known.join()) return;
        const { purpose, logger } = this.#options;
        const text = `Redis promises less than it could (${purpose})`;
        logger.warn(text, { address: details.address, weaker_promise: this.#weaker });
      },
      // It is away again: this is repeated the next time it is up.
      () => {},
    );
  }

  #errorOf(command: string, error: unknown): ErrorBody {
    if (error instanceof Refusal) return error.toBody();
    const stack = error instanceof Error ? error.stack : String(error);
    this.#options.logger.error('A command of a store failed', { command, error: stack });
    return { code: 'STORAGE_UNAVAILABLE', message: `${command} failed in the engine; its log says why` };
  }

  /** A defect of one caller must not keep the others from their answers. */
  #answer(done: Done, reply: StoreReply): void {
    try {
      done(reply);
    } catch (error) {
      const stack = error instanceof Error ? error.stack : String(error);
      this.#options.logger.error('An answer of a store could not be handled', { error: stack });
    }
  }
}
