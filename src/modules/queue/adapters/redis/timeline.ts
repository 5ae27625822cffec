// Whether the Redis of the queues knows all changes that it has answered to this engine (R7).
//
// A Redis that was restored from a backup, or replaced by a replica that had less, hands out jobs that have run, and
// has forgotten others. Then jobs are held back for all engines, which report what they remember, until a person
// resumes.
//
// Modes, and their transitions:
//   unknown    not connected yet; `report`
//   current    the position moves with each answer; a connection that is lost and made again: `report`
//   held back  this engine reports again and again what it remembers; `resume`, by any engine

import type { Clock } from '../../../../effects/clock.ts';
import type { Logger } from '../../../../effects/logger.ts';
import type { RedisScript } from '../../../../effects/redis-script.ts';
import { readReceipt, writeReceipt } from '../../../../store/commands/queue/receipt.ts';
import type { QueueRecovery, Recovery, RememberedJob } from '../capabilities.ts';
import * as replies from './replies.ts';
import { DISCARD_AGAIN, RECOVERY, REMEMBER, REPORT, RESUME } from './timeline-scripts.ts';

export const TIMELINE_SCRIPTS: readonly RedisScript[] = [REPORT, REMEMBER, RECOVERY, DISCARD_AGAIN, RESUME];

export interface TimelineOptions {
  readonly run: (script: RedisScript, ...args: readonly (string | number)[]) => Promise<replies.Reply>;
  readonly engine: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An id that no period had before. */
  readonly newPeriod: () => string;
  readonly format: string;
  readonly salt: () => number;
  /** The store may be another one than before. */
  readonly adoptSalt: (salt: number) => void;
  /** Jobs are handed over again: there may be some to claim. */
  readonly resumed: () => void;
}

/** Of the last answer to this engine. */
interface Position {
  readonly period: string;
  readonly steps: number;
  /** By the clock of Redis. */
  readonly atMs: number;
}

/** What runs may end meanwhile. */
const REMEMBER_MS = 5_000;
const REMEMBERED_PER_SCRIPT = 200;
const DISCARDED_PER_SCRIPT = 200;
const SHOWN_MAX = 1_000;
/** Other engines connect at about the same time as this one: within as long as Redis was away, up to this. */
const CALM_MS_MAX = 6_000;
const CALM_MS_MIN = 500;

export class Timeline implements Recovery {
  readonly #options: TimelineOptions;
  #position: Position | undefined;
  #isReporting = false;
  #isHeldBack = false;
  #missing = 0;
  #remembered: () => Iterable<RememberedJob> = () => [];
  #stopRemembering = (): void => {};

  constructor(options: TimelineOptions) {
    this.#options = options;
  }

  get trouble(): string | undefined {
    if (!this.#isHeldBack) return undefined;
    const forgotten = this.#missing === 0 ? '' : ` (at least ${this.#missing} changes)`;
    const lost = `the Redis of the queues has forgotten what it had acknowledged${forgotten}`;
    return `QUEUE_STORE_OLDER: ${lost}. No job is handed over until you run 'svc queue recover'`;
  }

  remembersBy(remembered: () => Iterable<RememberedJob>): void {
    this.#remembered = remembered;
  }

  /** On every new connection, before any other command; `awayMs`: how long there was none. */
  async report(awayMs: number): Promise<void> {
    const { run, engine, newPeriod, format, salt, adoptSalt } = this.#options;
    const { period = '', steps = 0, atMs = 0 } = this.#position ?? {};
    this.#isReporting = true;
    const calmMs = Math.ceil(Math.min(CALM_MS_MAX, Math.max(CALM_MS_MIN, awayMs)));
    const known = period === '' ? ['', ''] : [format, salt()];
    try {
      const reply = await run(REPORT, engine, newPeriod(), period, steps, ...known, calmMs, atMs);
      const [current, number, now, heldBack, missing, ownSalt] = replies.listIn(reply);
      adoptSalt(replies.numberIn(ownSalt));
      const isHeldBack = replies.numberIn(heldBack) === 1;
      this.#position = {
        period: replies.textIn(current),
        steps: replies.numberIn(number),
        atMs: replies.numberIn(now),
      };
      this.#noteMissing(replies.numberIn(missing), isHeldBack);
      this.#setHeldBack(isHeldBack);
    } finally {
      this.#isReporting = false;
    }
  }

  /** An answer with the number of its change; 0: it changed nothing. `atMs`: by the clock of Redis, if it says so. */
  noteChange(steps: number, atMs = this.#position?.atMs ?? 0): void {
    if (this.#isReporting || this.#position === undefined || steps === 0) return;
    // It was emptied or restored without a restart.
    if (steps < this.#position.steps) void this.report(0).catch(() => {});
    else this.#position = { ...this.#position, steps, atMs };
  }

  /** An answer that says whether jobs are held back. */
  noteHeldBack(isHeldBack: boolean): void {
    if (!this.#isReporting && this.#position !== undefined) this.#setHeldBack(isHeldBack);
  }

  async recovery(): Promise<QueueRecovery> {
    await this.#remember();
    const reply = await this.#options.run(RECOVERY, SHOWN_MAX);
    const [since, missing, jobs, engines, total, rows] = replies.listIn(reply);
    return {
      heldBackSinceMs: since === null ? undefined : replies.numberIn(since),
      missing: replies.numberIn(missing),
      jobs: replies.numberIn(jobs),
      engines: replies.listIn(engines).map((engine) => {
        const [id, hasReported] = replies.listIn(engine);
        return { id: replies.textIn(id), hasReported: replies.numberIn(hasReported) === 1 };
      }),
      againTotal: replies.numberIn(total),
      again: replies.listIn(rows).map((row) => this.#readAgain(row)),
    };
  }

  async resume(remembered: 'discard' | 'run_again'): Promise<{ readonly discarded: number } | undefined> {
    const { run } = this.#options;
    let discarded = 0;
    if (!(await this.#remember())) return undefined;
    if (remembered === 'discard') {
      for (let hasMore = true; hasMore; ) {
        const [count, more] = replies.listIn(await run(DISCARD_AGAIN, DISCARDED_PER_SCRIPT));
        discarded += replies.numberIn(count);
        hasMore = replies.numberIn(more) === 1;
      }
    }
    await run(RESUME);
    this.#setHeldBack(false);
    return { discarded };
  }

  stop(): void {
    this.#stopRemembering();
  }

  #readAgain(row: replies.Reply): QueueRecovery['again'][number] {
    const [name, queue, seq, time, functionId, how] = replies.listIn(row);
    const [atMs, number] = [replies.numberIn(time), replies.numberIn(queue)];
    const id = writeReceipt({ atMs, seq: replies.numberIn(seq), queue: number, salt: this.#options.salt() });
    const isDone = replies.textIn(how) === 'done';
    return { id, queue: replies.textIn(name), functionId: replies.textIn(functionId), enqueuedMs: atMs, isDone };
  }

  #noteMissing(missing: number, isHeldBack: boolean): void {
    if (missing === 0) return;
    this.#missing = Math.max(this.#missing, missing);
    const lost = 'The Redis of the queues has forgotten what it had acknowledged';
    const rest = isHeldBack ? `no job is handed over until you run 'svc queue recover'` : 'it was emptied';
    this.#options.logger.error(`QUEUE_STORE_OLDER: ${lost}: ${rest}`, { changes_missing: missing });
  }

  #setHeldBack(isHeldBack: boolean): void {
    if (isHeldBack === this.#isHeldBack) return;
    const { clock, logger, resumed } = this.#options;
    this.#isHeldBack = isHeldBack;
    if (isHeldBack) {
      // The engine that noticed it has said more.
      if (this.#missing === 0) logger.warn("The jobs of the queues are held back until you run 'svc queue recover'");
      const remember = (): void => void this.#remember().catch(() => {});
      this.#stopRemembering = clock.every(REMEMBER_MS, remember);
      remember();
    } else {
      this.#missing = 0;
      this.#stopRemembering();
      logger.info('The jobs of the queues are handed over again');
      resumed();
    }
  }

  /**
   * Reports the jobs that run now and those that ended: the ones that this Redis would run again are kept there.
   * Resolves with whether jobs are held back.
   */
  async #remember(): Promise<boolean> {
    const { run, engine } = this.#options;
    if (replies.numberIn(await run(REMEMBER, engine, 1)) === 0) return false;
    const all = [...this.#remembered()].flatMap(({ id, isDone, token }) => {
      const receipt = readReceipt(id);
      if (receipt === undefined || receipt.salt !== this.#options.salt()) return [];
      return [[receipt.queue, receipt.seq, receipt.atMs, isDone ? 'done' : 'running', token]];
    });
    for (let at = 0; at < all.length; at += REMEMBERED_PER_SCRIPT) {
      await run(REMEMBER, engine, 0, ...all.slice(at, at + REMEMBERED_PER_SCRIPT).flat());
    }
    return true;
  }
}
