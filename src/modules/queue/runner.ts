// Delivers the jobs of one queue: claims them, hands them to workers, reports their outcomes to the store.
//
// Neighbours: `core/queue/delivery-window.ts` says how many may be claimed and run, `adapters/` keep the jobs.
// Modes, and their transitions:
//   running   claims as many jobs as the window allows; `detach`, `drain`
//   detached  its trigger does not exist yet: claims as well, and parks the jobs, so that they expire as those of an
//             absent function do; `attach`, `drain`
//   draining  claims nothing, returns what it holds; outcomes of running jobs are still sent (G2); `resume`
//   ended     the last outcomes are sent, and no answer is used any more
// A step that its adapter did not carry out is sent again a while later, with its outcomes: no finished job may run
// again, and none may stay running for ever.
// Invariants:
//   - Outcomes are sent in order: one step is with the adapter at a time, or two where only this engine works on the
//     queue and the adapter keeps their order, so that the jobs of every turn can travel with a step of their own.
//     Later outcomes are gathered meanwhile.
//   - A job is reported as done, failed or returned exactly once for each hand-over (Q8).
//   - Jobs of an absent function are parked without using an attempt, with one log line a minute (Q7). A function that
//     is registered while they are being parked wakes them as soon as they are.

import { DeliveryWindow } from '../../core/queue/delivery-window.ts';
import { loggedName, shownName } from '../../core/queue/queue-names.ts';
import { RecentRate } from '../../core/queue/recent-rate.ts';
import type { SettledJob, TakenJob } from '../../core/queue/shapes.ts';
import { deliveriesMax } from '../../core/queue/waits.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { Binding } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Advanced, QueueAdapter } from './adapters/adapter.ts';
import type { Sharing } from './adapters/capabilities.ts';
import type { QueueSettings } from './config.ts';
import { DueWatch } from './due-watch.ts';
import type { FinishedJobs } from './finished-jobs.ts';
import { QueueLog } from './queue-log.ts';
import { type Attempt, type AttemptEnd, isTrustedWork, runJob } from './run-job.ts';
import { AwaitedFunctions } from './waiting-for-worker.ts';

/** The methods that move jobs; the module calls the others itself. */
export type RunnerAdapter = Pick<
  QueueAdapter,
  'name' | 'place' | 'enqueue' | 'advance' | 'wake' | 'sharing' | 'localStore' | 'idempotencyKeys' | 'priorities'
>;

export interface RunnerContext {
  readonly router: RouterPort;
  readonly adapter: RunnerAdapter;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly finished: FinishedJobs;
  /** Running jobs by receipt: for their progress. */
  readonly running: Map<string, Attempt>;
}

const WAKE_AGAIN_MS = 1_000;
const STEP_AGAIN_MS = 200;
/** Less than a person notices, and more than another engine of the cluster needs to claim a job. */
const NEWS_MS_WITHOUT_WORKERS = 50;
const OUTCOMES_WAIT_MS = 2;
const OUTCOMES_WAITING_MAX = 256;

export class QueueRunner {
  #settings: QueueSettings;
  /** The trigger on whose behalf jobs run, if there is one. */
  origin: Binding | undefined;
  /** Since the engine started. */
  readonly totals = { enqueued: 0, finished: 0, failed: 0 };
  /** Jobs enqueued through this engine, per second. */
  readonly #came = new RecentRate();
  readonly #went = new RecentRate();
  readonly #context: RunnerContext;
  readonly #sharing: Sharing | undefined;
  readonly #stepsAwayMax: number;
  readonly #window: DeliveryWindow;
  readonly #held: TakenJob[] = [];
  #settled: SettledJob[] = [];
  readonly #parkedFor = new AwaitedFunctions();
  /** Functions of jobs that no step has parked yet: waking them earlier would miss them. */
  #parking = new AwaitedFunctions();
  #mode: 'running' | 'detached' | 'draining' | 'ended' = 'running';
  /** There may be more to claim since the last step was sent. */
  #isNudged = false;
  #hasMore = false;
  #stepsAway = 0;
  /** `refused`: the adapter did not carry out a step, and the next one has to wait. */
  #nextStep: 'none' | 'due' | 'refused' = 'none';
  readonly #due: DueWatch;
  readonly #log: QueueLog;
  /** By what its jobs are counted. */
  readonly #countedAs: string;
  #cancelLateStep: (() => void) | undefined;
  #cancelLateNudge: (() => void) | undefined;

  constructor(context: RunnerContext, settings: QueueSettings) {
    this.#context = context;
    this.#settings = settings;
    this.#sharing = context.adapter.sharing;
    this.#stepsAwayMax = this.#sharing === undefined ? 2 : 1;
    this.#window = new DeliveryWindow(settings);
    this.#due = new DueWatch(context.clock, () => this.nudge());
    this.#log = new QueueLog(settings.name, context);
    this.#countedAs = shownName(settings.name);
  }

  get settings(): QueueSettings {
    return this.#settings;
  }

  /** Applies from the next job on. */
  configure(settings: QueueSettings): void {
    this.#settings = settings;
    this.#window.setRules(settings);
    this.nudge();
  }

  /** No job runs, and no outcome waits to be sent. */
  get isQuiet(): boolean {
    return this.#window.isIdle && this.#stepsAway === 0 && this.#settled.length === 0;
  }

  /** Hands jobs over again, after a drain. */
  resume(settings: QueueSettings): void {
    this.#mode = 'running';
    this.configure(settings);
    this.wakeParked();
  }

  /** Its trigger does not exist yet. */
  detach(): void {
    if (this.#mode === 'running') this.#mode = 'detached';
  }

  /** Its trigger exists. */
  attach(): void {
    if (this.#mode === 'detached') this.#mode = 'running';
  }

  get isDetached(): boolean {
    return this.#mode === 'detached';
  }

  get #claims(): boolean {
    return this.#mode === 'running' || this.#mode === 'detached';
  }

  /** Under pressure fewer jobs run at a time (L1). */
  slow(isSlowed: boolean): void {
    this.#window.slow(isSlowed);
    if (!isSlowed) this.#pump();
  }

  /** Recent rates, in jobs per second: taken, and ended for good. */
  get rates(): { readonly came: number; readonly went: number } {
    const nowMs = this.#context.clock.monotonicMs();
    return { came: this.#came.perSecond(nowMs), went: this.#went.perSecond(nowMs) };
  }

  get runningCount(): number {
    return this.#window.running;
  }

  /** A job of this queue was taken durably. */
  noteEnqueued(): void {
    this.totals.enqueued++;
    this.#context.router.observer?.jobEnqueued(this.#countedAs);
    this.#came.add(this.#context.clock.monotonicMs());
  }

  /** There may be something to claim. */
  nudge(): void {
    this.#isNudged = true;
    this.#hasMore = true;
    this.#planStep();
  }

  /** A queue of several engines has jobs. An engine with workers gets them first: they need not be passed on. */
  noteNews(): void {
    const { router, clock } = this.#context;
    if (!router.isInCluster || router.hasWorkers) return this.nudge();
    this.#cancelLateNudge ??= clock.after(NEWS_MS_WITHOUT_WORKERS, () => {
      this.#cancelLateNudge = undefined;
      this.nudge();
    });
  }

  noteParked(functionIds: readonly string[]): void {
    for (const functionId of functionIds) this.#parkedFor.addUnknown(functionId);
    this.wakeParked();
  }

  #noteParking(parking: AwaitedFunctions): void {
    this.#parkedFor.addAll(parking);
    this.wakeParked();
  }

  #isOffered(job: TakenJob): boolean {
    return this.#context.router.isOffered(job.facts.functionId, isTrustedWork(this.origin, job));
  }

  #isForOtherEngine({ facts: { rights } }: TakenJob): boolean {
    return rights !== undefined && this.#context.router.isForOtherEngine(rights);
  }

  #awaitFunction(job: TakenJob): void {
    this.#parking.add(job.facts.functionId, isTrustedWork(this.origin, job));
  }

  /** Functions were registered: their jobs wait no longer. */
  wakeParked(): void {
    const { router, adapter, clock, logger } = this.#context;
    if (this.#mode !== 'running') return;
    for (const functionId of this.#parkedFor.takeOffered((id, isTrusted) => router.isOffered(id, isTrusted))) {
      adapter.wake(this.settings.name, functionId).then(
        () => this.nudge(),
        (error: unknown) => {
          this.#parkedFor.addUnknown(functionId);
          logger.error('Jobs that wait for a worker could not be woken', { error: String(error) });
          clock.after(WAKE_AGAIN_MS, () => this.wakeParked());
        },
      );
    }
  }

  /** No job is handed over any more; held jobs go back (G2). */
  drain(): void {
    if (!this.#claims) return;
    this.#mode = 'draining';
    this.#due.stop();
    this.letGo();
  }

  /** The queue is paused: jobs that were claimed but do not run go back. */
  letGo(): void {
    for (const job of this.#held.splice(0)) this.#release(job);
    this.#planStep();
  }

  /** The last message: nothing may wait for an answer any more. */
  flush(): void {
    this.#mode = 'ended';
    if (this.#settled.length > 0) this.#step();
  }

  #planStep(): void {
    if (!this.#maySend || !this.#hasWork) return;
    if (this.#mayWait) return this.#stepLater();
    this.#cancelLateStep?.();
    this.#cancelLateStep = undefined;
    this.#nextStep = 'due';
    this.#context.clock.afterTurn(() => {
      if (this.#nextStep !== 'due') return;
      this.#nextStep = 'none';
      if (this.#maySend && this.#hasWork) this.#step();
    });
  }

  get #maySend(): boolean {
    return this.#nextStep === 'none' && this.#stepsAway < this.#stepsAwayMax;
  }

  /** Outcomes that unblock no other job share a transaction with what comes next, if it comes soon. */
  get #mayWait(): boolean {
    const { isFifo } = this.#settings;
    return this.#claims && !isFifo && !this.#hasMore && this.#settled.length < OUTCOMES_WAITING_MAX;
  }

  #stepLater(): void {
    this.#cancelLateStep ??= this.#context.clock.after(OUTCOMES_WAIT_MS, () => {
      this.#cancelLateStep = undefined;
      if (this.#maySend && this.#hasWork) this.#step();
    });
  }

  get #hasWork(): boolean {
    return this.#settled.length > 0 || (this.#claims && this.#hasMore && this.#window.toAsk > 0);
  }

  #step(): void {
    const claim = this.#claims ? this.#window.toAsk : 0;
    const sentMs = this.#context.clock.monotonicMs();
    const settled = this.#settled;
    const parking = this.#parking;
    this.#settled = [];
    this.#parking = new AwaitedFunctions();
    this.#stepsAway++;
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
    this.#context.adapter.advance(step, (answer) => {
      this.#stepsAway--;
      this.#window.answered(claim, answer?.jobs.length ?? 0);
      if (answer === undefined) return this.#takeBack(settled, parking);
      if (!parking.isEmpty) this.#noteParking(parking);
      const isIdle = claim > 0 && answer.jobs.length === 0 && answer.died === 0;
      this.#receive(answer, isIdle ? sentMs : undefined);
    });
  }

  /**
   * The step was not carried out, because too much waits for the store or because it found a damaged record. A store
   * that failed for good ends the engine, and the next one finds the jobs where they were.
   */
  #takeBack(settled: readonly SettledJob[], parking: AwaitedFunctions): void {
    this.#settled = [...settled, ...this.#settled];
    this.#parking.addAll(parking);
    this.#hasMore = true;
    if (this.#nextStep === 'refused' || this.#mode === 'ended') return;
    const { router, clock } = this.#context;
    this.#nextStep = 'refused';
    router.count('queue.steps_refused', loggedName(this.settings.name));
    this.#log.stepRefused();
    clock.after(STEP_AGAIN_MS, () => {
      this.#nextStep = 'none';
      this.#planStep();
    });
  }

  /** `wantedMs`: when jobs were requested and none came. */
  #receive({ jobs, hasMore, nextDueMs, stale, died }: Advanced, wantedMs: number | undefined): void {
    const { router } = this.#context;
    for (let count = 0; count < stale; count++) router.count('queue.stale_outcomes', loggedName(this.settings.name));
    if (died > 0) this.#log.died(died);
    this.#hasMore = hasMore || this.#isNudged;
    if (nextDueMs === null || !this.#claims) this.#due.stop();
    else this.#due.wait(nextDueMs, wantedMs !== undefined && nextDueMs <= wantedMs);
    // Parked jobs have a due time, and no other engine parks any: there is nothing to wake.
    if (nextDueMs === null && this.#sharing === undefined) this.#parkedFor.clear();
    if (!this.#claims) for (const job of jobs) this.#release(job);
    else this.#held.push(...jobs);
    this.#pump();
  }

  #pump(): void {
    while (this.#window.mayHandOver && this.#claims) {
      const job = this.#held.shift();
      if (job === undefined) break;
      if (this.#sharing?.mayHandOver(this.settings.name, job) === false) this.#release(job);
      else if (this.#isForOtherEngine(job)) this.#leave(job);
      else if (this.#mode === 'detached' || !this.#isOffered(job)) this.#park(job);
      else this.#handOver(job);
    }
    this.#planStep();
  }

  #handOver(job: TakenJob): void {
    this.#window.handOver();
    const { router, running, clock } = this.#context;
    const attempt: Attempt = { job, queue: this.settings.name, progress: undefined };
    const startedMs = clock.monotonicMs();
    running.set(job.id, attempt);
    runJob({ router, settings: this.settings, origin: this.origin }, attempt, (end) => {
      running.delete(job.id);
      this.#window.end();
      this.#count(end, clock.monotonicMs() - startedMs);
      this.#settle(attempt, end);
      this.#pump();
    });
  }

  /** An attempt that was released or parked has not run. */
  #count({ how }: AttemptEnd, durationMs: number): void {
    const { observer } = this.#context.router;
    if (how === 'done') observer?.attemptEnded(this.#countedAs, durationMs, undefined);
    if (how === 'retry' || how === 'dead') observer?.attemptEnded(this.#countedAs, durationMs, how);
  }

  #settle({ job, progress }: Attempt, end: AttemptEnd): void {
    const { clock, finished } = this.#context;
    const { seq, token } = job;
    this.#settled.push({ seq, token, ...end });
    if (end.how === 'park') this.#awaitFunction(job);
    if (end.how === 'retry' || end.how === 'dead') this.totals.failed++;
    if (end.how === 'done' || end.how === 'dead') this.#went.add(clock.monotonicMs());
    if (end.how !== 'done') return;
    this.totals.finished++;
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

  #release({ seq, token }: TakenJob): void {
    this.#window.drop();
    this.#settled.push({ seq, token, how: 'release', isUnsent: true });
  }

  /** It waits for an engine that finds it among the jobs parked elsewhere. */
  #leave({ seq, token }: TakenJob): void {
    this.#window.drop();
    this.#settled.push({ seq, token, how: 'park', isUnsent: true });
  }

  #park(job: TakenJob): void {
    this.#leave(job);
    this.#awaitFunction(job);
    this.#log.functionAbsent(job.facts.functionId);
  }
}
