// Delivers the jobs of one queue: claims them, hands them to workers, tells the store how they went.
//
// Neighbours: `core/queue/delivery-window.ts` says how many may be claimed and run, `adapters/` keep the jobs.
// Modes, and what moves the runner on:
//   running   claims while the window has room; ends with `drain`
//   draining  claims nothing, gives back what it holds; outcomes of what runs are still told (G2)
// Invariants:
//   J1  One step is with the adapter at a time, so that outcomes are told in order; what comes meanwhile gathers.
//   J2  A job is told as done, failed or given back exactly once for each hand-over (Q8).
//   J3  Jobs of an absent function are parked without having used an attempt, one log line a minute (Q7).

import { deliveriesMax } from '../../core/queue/backoff.ts';
import { DeliveryWindow } from '../../core/queue/delivery-window.ts';
import type { SettledJob } from '../../core/queue/shapes.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Advanced, QueueAdapter, TakenJob } from './adapters/adapter.ts';
import type { QueueSettings } from './config.ts';
import type { FinishedJobs } from './finished-jobs.ts';
import { type Attempt, type AttemptEnd, runJob } from './run-job.ts';

export interface RunnerParts {
  readonly router: RouterPort;
  readonly adapter: QueueAdapter;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly finished: FinishedJobs;
  /** Jobs that run now, by receipt: for their progress. */
  readonly running: Map<string, Attempt>;
}

/** The wall clock may be set at any time: what is due is looked at this often, whatever is due when. */
const LOOK_MS_MAX = 1_000;
const ABSENT_LOG_INTERVAL_MS = 60_000;

export class QueueRunner {
  #settings: QueueSettings;
  /** The trigger on whose behalf jobs run, where there is one. */
  origin: { readonly id: string; readonly type: string; readonly conditionFunctionId: string | undefined } | undefined;
  readonly #parts: RunnerParts;
  readonly #window: DeliveryWindow;
  readonly #held: TakenJob[] = [];
  #settled: SettledJob[] = [];
  readonly #parkedFunctions = new Set<string>();
  readonly #toldAbsentMs = new Map<string, number>();
  #mode: 'running' | 'draining' = 'running';
  /** Since the last step was sent, somebody said that there may be more. */
  #isNudged = false;
  #hasMore = false;
  #isAway = false;
  #isStepDue = false;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: RunnerParts, settings: QueueSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#window = new DeliveryWindow(settings);
  }

  get settings(): QueueSettings {
    return this.#settings;
  }

  /** From the next job on. */
  configure(settings: QueueSettings): void {
    this.#settings = settings;
    this.#window.setRules(settings);
  }

  get runningCount(): number {
    return this.#window.running;
  }

  /** There may be something to claim. */
  nudge(): void {
    this.#isNudged = true;
    this.#hasMore = true;
    this.#planStep();
  }

  noteParked(functionIds: readonly string[]): void {
    for (const functionId of functionIds) this.#parkedFunctions.add(functionId);
    this.wakeParked();
  }

  /** Functions came: their jobs wait no longer. */
  wakeParked(): void {
    const { router, adapter, logger } = this.#parts;
    if (this.#mode === 'draining') return;
    for (const functionId of this.#parkedFunctions) {
      if (router.functionEntry(functionId) === undefined) continue;
      this.#parkedFunctions.delete(functionId);
      adapter.wake(this.settings.name, functionId).then(
        () => this.nudge(),
        (error: unknown) => {
          this.#parkedFunctions.add(functionId);
          logger.error('Jobs that wait for a worker could not be woken', { error: String(error) });
        },
      );
    }
  }

  /** Nothing is handed over any more; what is held goes back (G2). */
  drain(): void {
    if (this.#mode === 'draining') return;
    this.#mode = 'draining';
    this.#cancelTimer?.();
    for (const job of this.#held.splice(0)) this.#giveBack(job);
    this.#planStep();
  }

  /** The last word: nothing may wait for an answer any more. */
  flush(): void {
    this.#mode = 'draining';
    if (this.#settled.length > 0) this.#step();
  }

  #planStep(): void {
    if (this.#isStepDue || this.#isAway || !this.#hasWork) return;
    this.#isStepDue = true;
    this.#parts.clock.afterTurn(() => {
      this.#isStepDue = false;
      if (!this.#isAway && this.#hasWork) this.#step();
    });
  }

  get #hasWork(): boolean {
    return this.#settled.length > 0 || (this.#mode === 'running' && this.#hasMore && this.#window.toAsk > 0);
  }

  #step(): void {
    const claim = this.#mode === 'running' ? this.#window.toAsk : 0;
    const settled = this.#settled;
    this.#settled = [];
    this.#isAway = true;
    this.#isNudged = false;
    this.#window.ask(claim);
    const { name, retry, rules } = this.settings;
    const step = {
      queue: name,
      settled,
      claim,
      deliveriesMax: deliveriesMax(retry.maxRetries),
      unroutableTtlMs: rules.unroutableTtlMs,
    };
    this.#parts.adapter.advance(step, (answer) => {
      this.#isAway = false;
      this.#window.answered(claim, answer?.jobs.length ?? 0);
      // A store that failed ends the engine, and the next one finds the jobs where they were.
      if (answer !== undefined) this.#receive(answer);
    });
  }

  #receive({ jobs, hasMore, nextDueMs, stale, died }: Advanced): void {
    const { router, logger } = this.#parts;
    for (let count = 0; count < stale; count++) router.count('queue.stale_outcomes', this.settings.name);
    if (died > 0) logger.warn('Jobs became dead letters', { queue: this.settings.name, jobs: died });
    this.#hasMore = hasMore || this.#isNudged;
    this.#wait(nextDueMs);
    if (this.#mode === 'draining') for (const job of jobs) this.#giveBack(job);
    else this.#held.push(...jobs);
    this.#pump();
  }

  #wait(nextDueMs: number | null): void {
    this.#cancelTimer?.();
    if (nextDueMs === null || this.#mode === 'draining') return;
    const { clock } = this.#parts;
    const delayMs = Math.min(LOOK_MS_MAX, Math.max(1, nextDueMs - clock.nowMs()));
    this.#cancelTimer = clock.after(delayMs, () => {
      if (clock.nowMs() >= nextDueMs) this.nudge();
      else this.#wait(nextDueMs);
    });
  }

  #pump(): void {
    while (this.#window.mayHandOver && this.#mode === 'running') {
      const job = this.#held.shift();
      if (job === undefined) break;
      if (this.#parts.router.functionEntry(job.facts.functionId) === undefined) this.#park(job);
      else this.#handOver(job);
    }
    this.#planStep();
  }

  #handOver(job: TakenJob): void {
    this.#window.handOver();
    const { router, running } = this.#parts;
    const attempt: Attempt = { job, queue: this.settings.name, progress: undefined };
    running.set(job.id, attempt);
    runJob({ router, settings: this.settings, origin: this.origin }, attempt, (end) => {
      running.delete(job.id);
      this.#window.end();
      this.#settle(attempt, end);
      this.#pump();
    });
  }

  #settle({ job, progress }: Attempt, end: AttemptEnd): void {
    const { clock, finished } = this.#parts;
    const { seq, token } = job;
    this.#settled.push({ seq, token, ...end });
    if (end.how !== 'done') return;
    finished.add({
      messageReceiptId: job.id,
      queue: this.settings.name,
      function_id: job.facts.functionId,
      state: 'done',
      attempt: job.attempt,
      enqueued_at: job.enqueuedMs,
      finished_at: clock.nowMs(),
      size_bytes: job.bytes,
      ...(progress !== undefined && { progress }),
    });
  }

  #giveBack({ seq, token }: TakenJob): void {
    this.#window.drop();
    this.#settled.push({ seq, token, how: 'release', isUnsent: true });
  }

  #park({ seq, token, facts: { functionId } }: TakenJob): void {
    const { logger, clock } = this.#parts;
    this.#window.drop();
    this.#settled.push({ seq, token, how: 'park', isUnsent: true });
    this.#parkedFunctions.add(functionId);
    const nowMs = clock.monotonicMs();
    if (nowMs - (this.#toldAbsentMs.get(functionId) ?? Number.NEGATIVE_INFINITY) < ABSENT_LOG_INTERVAL_MS) return;
    this.#toldAbsentMs.set(functionId, nowMs);
    logger.warn('Jobs wait: no worker offers their function', { queue: this.settings.name, function_id: functionId });
  }
}
