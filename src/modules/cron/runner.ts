// Runs the ticks: finds which are due, claims them, calls.
//
// It keeps time with two clocks (CR3), claims before each call (CR1), and limits concurrent runs (CR4).
// Neighbours: `core/cron/agenda.ts` decides what is due or missed, `claims.ts` stores the claims.
// Invariants:
//   - No call without a durable claim: a crash may lose a tick, but never runs one twice. A tick that becomes a job is
//     claimed after it is enqueued: if it is enqueued twice, it is the same job.
//   - `inFlight` of a job counts its ticks from the claim to the end of the handler.

import { Agenda, type Look, type Run } from '../../core/cron/agenda.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import { CALL_TIMEOUT_MS_MAX } from '../../protocol/frames/limits.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Binding } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import type { ClaimOutcome, TickClaims } from './claims.ts';
import { type CronJob, CronJobs } from './jobs.ts';
import { type CronPlan, cronPayload } from './triggers.ts';

export interface CronRunnerOptions {
  readonly router: RouterPort;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly claims: TickClaims;
}

/** The wall clock may be set at any time, so it is read at this interval, regardless of what is due (CR3). */
const LOOK_MS_MAX = 1_000;
/** Triggers of all restricted connections together. */
const RESTRICTED_MAX = 1_000;

export class CronRunner {
  readonly #options: CronRunnerOptions;
  readonly #jobs = new CronJobs();
  readonly #agenda = new Agenda<CronJob>();
  #cancelTimer: (() => void) | undefined;
  #state: 'waiting' | 'running' | 'stopped' = 'waiting';
  /** Durable triggers exist before the module starts and before claims are possible. */
  readonly #early: CronJob[] = [];

  constructor(options: CronRunnerOptions) {
    this.#options = options;
  }

  get jobCount(): number {
    return this.#jobs.size;
  }

  start(): void {
    this.#state = 'running';
    for (const job of this.#early.splice(0)) this.#open(job);
    this.#look();
  }

  /** No tick begins any more; running ones continue. */
  stop(): void {
    this.#state = 'stopped';
    this.#cancelTimer?.();
  }

  /** Why the trigger is refused: each tick of each trigger is a claim in the store and a call. */
  offence({ owner }: Binding): string | undefined {
    if (owner?.access === undefined || this.#jobs.restrictedCount < RESTRICTED_MAX) return undefined;
    return `Restricted ports have ${RESTRICTED_MAX} cron triggers together, the limit`;
  }

  nextMs(binding: Binding): number | undefined {
    const job = this.#jobs.of(binding);
    return job === undefined || job.heapIndex < 0 ? undefined : job.dueMs;
  }

  add(binding: Binding, plan: CronPlan): void {
    const { job, isNew } = this.#jobs.add(binding, plan);
    if (!isNew) return;
    if (this.#state === 'waiting') this.#early.push(job);
    else this.#open(job);
  }

  remove(binding: Binding): void {
    const left = this.#jobs.remove(binding);
    if (left?.isGone !== true) return;
    this.#agenda.remove(left.job);
    // Triggers that end with the engine are loaded at its next start, and then the missed ticks are computed.
    if (this.#state === 'running') this.#options.claims.release(left.job.key);
  }

  #open(job: CronJob): void {
    const sinceMs = this.#options.clock.nowMs();
    this.#options.claims.open(job.key, (settledMs) => {
      // Removed again, or removed and opened again, while the store was working.
      if (job.bindings.size === 0 || job.heapIndex >= 0) return;
      this.#act(this.#agenda.add(job, sinceMs, settledMs));
      this.#wait();
    });
  }

  #look(): void {
    const { clock } = this.#options;
    this.#act(this.#agenda.look(clock.nowMs(), clock.monotonicMs()));
    this.#wait();
  }

  #wait(): void {
    if (this.#state !== 'running') return;
    this.#cancelTimer?.();
    const { clock } = this.#options;
    const untilDueMs = (this.#agenda.nextMs ?? Number.POSITIVE_INFINITY) - clock.nowMs();
    this.#cancelTimer = clock.after(Math.min(LOOK_MS_MAX, Math.max(0, untilDueMs)), () => this.#look());
  }

  #act({ runs, missed }: Look<CronJob>): void {
    if (missed.length > 0) this.#reportMissed(missed);
    if (this.#state !== 'running') return;
    const taken = runs.filter(({ job }) => this.#mayStart(job));
    if (taken.length === 0) return;
    for (const run of taken) if (run.job.queue !== undefined) this.#enqueue(run, run.job.queue);
    const called = taken.filter(({ job }) => job.queue === undefined);
    if (called.length > 0) this.#claim(called, (outcome) => this.#claimed(called, outcome));
  }

  #claim(runs: readonly Run<CronJob>[], done: (outcome: ClaimOutcome) => void): void {
    const ticks = runs.map(({ job, atMs, follows }) => ({ trigger: job.key, atMs, follows }));
    this.#options.claims.claim(ticks, done);
  }

  /**
   * Enqueues the job first, under a key that names the tick: after a crash before the claim, the same job is made again
   * (CR1).
   */
  #enqueue(run: Run<CronJob>, queue: string): void {
    const { router, clock, logger } = this.#options;
    const { job, atMs } = run;
    const { binding } = job;
    const skip = (reason: string): void => {
      job.inFlight--;
      router.count('cron.skipped', reason);
    };
    if (binding === undefined) return skip('trigger_left');
    const payload = Payload.ofText(rawJson(cronPayload(binding.id, atMs, clock.nowMs())));
    router.enqueueOne(binding, { payload, queue, key: `cron ${job.key} ${atMs}` }, (verdict) => {
      if (verdict === 'refused') {
        logger.error('A cron tick could not be enqueued', {
          queue,
          function_id: binding.functionId,
          reason: binding.error,
        });
      }
      if (verdict !== 'queued') return skip(verdict === 'refused' ? 'enqueue_refused' : verdict);
      this.#claim([run], (outcome) => {
        job.inFlight--;
        // The next check by this or another engine finds the job under its key.
        if (!outcome.ok) logger.warn('A cron tick that became a job was not claimed', { reason: outcome.reason });
      });
    });
  }

  /** Counts the tick as in flight, if the limit allows one more (CR4). */
  #mayStart(job: CronJob): boolean {
    if (job.inFlight >= job.inFlightMax) {
      this.#options.router.count('cron.skipped', 'in_flight');
      return false;
    }
    job.inFlight++;
    return true;
  }

  #claimed(runs: readonly Run<CronJob>[], outcome: ClaimOutcome): void {
    const { router, logger } = this.#options;
    if (!outcome.ok) {
      logger.error('Cron ticks do not run: they cannot be claimed', { ticks: runs.length, reason: outcome.reason });
    }
    runs.forEach(({ job, atMs }, index) => {
      if (outcome.ok && outcome.won[index] === true) return this.#call(job, atMs);
      job.inFlight--;
      router.count('cron.skipped', outcome.ok ? 'claimed_before' : 'claim_failed');
    });
  }

  #call(job: CronJob, atMs: number): void {
    const { router, clock } = this.#options;
    const { binding } = job;
    if (binding === undefined || this.#state !== 'running') {
      job.inFlight--;
      router.count('cron.skipped', binding === undefined ? 'trigger_left' : 'shutting_down');
      return;
    }
    const payload = Payload.ofText(rawJson(cronPayload(binding.id, atMs, clock.nowMs())));
    router.fireOne(binding, payload, { depth: 0, timeoutMs: CALL_TIMEOUT_MS_MAX }, () => job.inFlight--);
  }

  #reportMissed(missed: Look<CronJob>['missed']): void {
    const count = missed.reduce((sum, one) => sum + one.count, 0);
    this.#options.router.count('cron.skipped', 'missed');
    this.#options.logger.warn('Cron ticks were missed: the engine was down, asleep, or its clock was set forward', {
      ticks: missed.some(({ isAtLeast }) => isAtLeast) ? `at least ${count}` : count,
      triggers: missed.length,
      functions: [...new Set(missed.flatMap(({ job }) => [...job.bindings].map(({ functionId }) => functionId)))]
        .slice(0, 5)
        .join(', '),
    });
  }
}
