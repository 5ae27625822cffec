// The telemetry thread as the router's thread sees it: batches are sent there, questions are passed on as bytes, and
// the answers are returned to their callers.
//
// What always holds:
//   - No batch waits here: a thread that falls behind makes the sink full, and the collector keeps to its own bounds.
//   - Questions are sent in the order of the batches, so an answer covers everything that happened before the question.
//     While the thread is overloaded, a question waits until what was gathered before it can be sent.
//   - The thread starts with the first data that it has to keep, unless that must outlive the engine: an engine that
//     does nothing has no thread, and a short run neither.
//   - A task that fails loses only its batch. A thread that ends is started again; what it kept is lost and counted.

import { isOwnLine } from '../core/telemetry/logs/log-record.ts';
import type { PayloadSettings } from '../core/telemetry/payloads/payload-rules.ts';
import type {
  DroppedTelemetry,
  SourceGauges,
  TelemetryBatch,
  TelemetrySink,
} from '../core/telemetry/records/intake.ts';
import { ROW_LENGTH } from '../core/telemetry/spans/span-rows.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { OwnThread } from '../effects/threads/pool.ts';
import type { ErrorBody } from '../protocol/frames/frames.ts';
import type { ExportStates } from './export/exporter.ts';
import type { ExportChange } from './export/pipeline.ts';
import { ROLLUPS_LIST } from './functions/definition.ts';
import {
  type AskAnswer,
  type BatchAnswer,
  type LogFiring,
  type Measured,
  type Merging,
  type MetricWindow,
  type RollupAnswers,
  type RollupPoints,
  type RollupTask,
  type StoredCounts,
  type TelemetryAnswers,
  type TelemetryHostOptions,
  type TelemetryTask,
  type WantedLogs,
  wholeBuffersOf,
} from './tasks.ts';

export type TelemetryThread = OwnThread<TelemetryTask, TelemetryAnswers[TelemetryTask['kind']]>;
export type RollupThread = OwnThread<RollupTask, RollupAnswers[RollupTask['kind']]>;

export interface TelemetryClientOptions {
  /** Called when the thread starts. */
  readonly options: () => Omit<TelemetryHostOptions, 'markKey'>;
  /** Called when the thread starts: the store that keeps it is open by then. */
  readonly markKey: () => string;
  /** Whether data observed at the very end is not needed: it is kept in memory only. */
  readonly isForMemoryOnly: boolean;
  readonly createThread: () => TelemetryThread;
  readonly createRollupThread: () => RollupThread;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with each batch. */
  readonly wantedLogs: () => WantedLogs;
  readonly fireLogs: (firings: readonly LogFiring[]) => void;
  readonly dropped: (dropped: DroppedTelemetry) => void;
  readonly noteGauges: (gauges: readonly SourceGauges[]) => void;
}

/** Batches that the thread has not answered yet. */
const BATCHES_AWAY_MAX = 4;
/** How long the start of the thread is delayed when nothing waits for it: the first calls have the processors. */
const LATE_MS = 1_000;
/** Applies retention while nothing happens, and checks the state of exports. */
const TICK_MS = 5_000;
/** Up to 2 s are spent flushing (O2); work that is unanswered after that is abandoned (G1). */
const STOP_MS = 2_000;
const STOP_MS_MAX = 2_500;

export class TelemetryClient implements TelemetrySink {
  readonly #options: TelemetryClientOptions;
  #thread: TelemetryThread | undefined;
  #rollups: RollupThread | undefined;
  /** The last task of that thread. */
  #rolledUp: Promise<unknown> = Promise.resolve();
  #away = 0;
  /** Questions that came while too many batches were unanswered. */
  #waiting: (() => void)[] = [];
  #failures = 0;
  #cancelOpening: (() => void) | undefined;
  #cancelStarting: (() => void) | undefined;
  /** Batches from before the thread started. */
  #early: TelemetryBatch[] = [];
  #stopTicking: (() => void) | undefined;
  #isStopped = false;
  #stored: StoredCounts = { spans: 0, logs: 0, metrics: 0 };
  #exports: ExportStates = {};

  constructor(options: TelemetryClientOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#away >= BATCHES_AWAY_MAX || this.#isStopped;
  }

  /** As of the last batch, or a few seconds ago. */
  get stored(): StoredCounts {
    return this.#stored;
  }

  get exports(): ExportStates {
    return this.#exports;
  }

  /** Tasks at which the thread failed. */
  get failures(): number {
    return this.#failures;
  }

  start(): void {
    const { clock, isForMemoryOnly } = this.#options;
    this.#stopTicking = clock.every(TICK_MS, () => this.#tick());
    if (!isForMemoryOnly) this.#startThread();
  }

  take(batch: TelemetryBatch): void {
    if (this.#isStopped) return;
    this.#away++;
    if (this.#thread !== undefined) return this.#handOver(this.#thread, batch);
    this.#early.push(batch);
    if (this.#isAwaited(batch) || this.isFull) this.#startThread();
    else if (!isOfOwnLinesAlone(batch)) this.#startLater();
  }

  /** Records of workers may have to be shown on the console, or a log trigger waits. */
  #isAwaited({ frames, logs }: TelemetryBatch): boolean {
    const hasRecords = frames.some(({ kind }) => kind === 'LOGS') || !logs.every(isOwnLine);
    return hasRecords || this.#options.wantedLogs().levels.length > 0;
  }

  #handOver(thread: TelemetryThread, batch: TelemetryBatch): void {
    this.#run(thread, { kind: 'batch', batch, wanted: this.#options.wantedLogs() }, wholeBuffersOf(batch))
      .then((answer) => (answer === undefined ? this.#loseBatch(batch) : this.#receive(answer)))
      .finally(() => this.#noteReturn());
  }

  #noteReturn(): void {
    this.#away--;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  /** Sends what was gathered so far, which a question must see. */
  async #flush(flush: () => void): Promise<void> {
    while (this.isFull && !this.#isStopped) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    flush();
  }

  /** Runs a function of the thread. The payload is copied before this returns. `flush` sends what was gathered. */
  async ask(
    functionId: string,
    payload: Uint8Array | undefined,
    flush: () => void,
    merging?: Merging,
  ): Promise<AskAnswer> {
    const given = payload && new Uint8Array(payload);
    await this.#flush(flush);
    if (functionId === ROLLUPS_LIST) return await this.#askRollups(given, merging);
    const thread = this.#startThread();
    const answer = thread && (await this.#run(thread, { kind: 'ask', functionId, payload: given, merging }));
    return answer ?? { error: UNAVAILABLE };
  }

  /** The rules for payloads have changed. */
  adopt(payloads: PayloadSettings): void {
    if (this.#thread !== undefined) void this.#run(this.#thread, { kind: 'adopt', payloads });
  }

  async measure(windows: readonly MetricWindow[], flush: () => void): Promise<readonly Measured[]> {
    await this.#flush(flush);
    const thread = this.#startThread();
    return (thread && (await this.#run(thread, { kind: 'measure', windows }))) ?? [];
  }

  /** Lets exports send what waits, for two seconds, then ends the threads. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopTicking?.();
    this.#cancelOpening?.();
    this.#cancelStarting?.();
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread === undefined) return;
    let cancel = (): void => {};
    const late = new Promise<undefined>((resolve) => {
      cancel = this.#options.clock.after(STOP_MS_MAX, () => resolve(undefined));
    });
    const stopped = await Promise.race([this.#run(thread, { kind: 'stop', withinMs: STOP_MS }), late]);
    const isRolledUp = await Promise.race([this.#rolledUp.then(() => true), late]);
    cancel();
    for (const drop of stopped?.dropped ?? []) this.#options.dropped(drop);
    // A thread may only be closed when nothing runs on it; the end of the process ends the others.
    await Promise.all([stopped && thread.close(), isRolledUp && this.#rollups?.close()]);
  }

  /** The thread, unless it was ended. */
  #startThread(): TelemetryThread | undefined {
    if (this.#thread !== undefined || this.#isStopped) return this.#thread;
    this.#cancelStarting?.();
    const thread = this.#options.createThread();
    this.#thread = thread;
    this.#open();
    for (const batch of this.#early) this.#handOver(thread, batch);
    this.#early = [];
    return thread;
  }

  #startLater(): void {
    this.#cancelStarting ??= this.#options.clock.after(LATE_MS, () => this.#startThread());
  }

  #open(): void {
    const thread = this.#thread;
    if (thread === undefined) return;
    const { options, markKey } = this.#options;
    void this.#run(thread, { kind: 'open', options: { ...options(), markKey: markKey() } });
  }

  #tick(): void {
    const thread = this.#thread;
    if (thread === undefined || this.#away > 0) return;
    void this.#run(thread, { kind: 'tick' }).then((answer) => answer !== undefined && this.#note(answer));
  }

  #receive(answer: BatchAnswer): void {
    this.#note(answer);
    if (answer.gauges.length > 0) this.#options.noteGauges(answer.gauges);
    if (answer.firings.length > 0 && !this.#isStopped) this.#options.fireLogs(answer.firings);
    if (answer.points !== undefined) this.#rollUp(answer.points);
  }

  #note({ dropped, stored, exports, exportChanges }: TelemetryAnswers['tick']): void {
    for (const change of exportChanges) logExportChange(this.#options.logger, change);
    for (const drop of dropped) this.#options.dropped(drop);
    this.#stored = stored;
    this.#exports = exports;
  }

  #rollUp(points: RollupPoints): void {
    if (this.#isStopped) return;
    this.#rollups ??= this.#options.createRollupThread();
    const count = points.numbers.length / 3 + points.histograms.length;
    this.#rolledUp = this.#rollups.run({ kind: 'add', points }, [points.numbers.buffer]).then(
      (drops) => {
        if (drops instanceof ArrayBuffer || 'error' in drops) return;
        for (const [reason, times] of Object.entries(drops)) {
          this.#options.dropped({ kind: 'metrics', reason, count: Number(times) });
        }
      },
      (error: unknown) => this.#noteRollupFailure('Metrics could not be rolled up', error, count),
    );
  }

  async #askRollups(payload: Uint8Array | undefined, merging: Merging | undefined): Promise<AskAnswer> {
    // Its points arrive through the other thread.
    this.#startThread();
    if (this.#isStopped) return { error: UNAVAILABLE };
    this.#rollups ??= this.#options.createRollupThread();
    const answer = this.#rollups.run({ kind: 'ask', payload, merging }).then(
      (given) => (given instanceof ArrayBuffer || isErrorAnswer(given) ? given : { error: UNAVAILABLE }),
      (error: unknown) => {
        this.#noteRollupFailure('Rolled up metrics could not be read', error, 0);
        return { error: UNAVAILABLE };
      },
    );
    this.#rolledUp = answer;
    return await answer;
  }

  #noteRollupFailure(text: string, error: unknown, count: number): void {
    if (this.#isStopped) return;
    this.#failures++;
    this.#lose('metrics', count);
    this.#options.logger.error(text, { error: String(error) });
  }

  /** The answer to that kind of task; undefined: the thread failed, which has been reported. */
  async #run<K extends TelemetryTask['kind']>(
    thread: TelemetryThread,
    task: TelemetryTask & { readonly kind: K },
    handedOver: readonly ArrayBuffer[] = [],
  ): Promise<TelemetryAnswers[K] | undefined> {
    try {
      // Each kind of task has its own kind of answer: `workers/telemetry.ts` guarantees that.
      return (await thread.run(task, handedOver)) as TelemetryAnswers[K];
    } catch (error) {
      this.#noteFailure(task.kind, error);
      return undefined;
    }
  }

  #noteFailure(kind: TelemetryTask['kind'], error: unknown): void {
    if (this.#isStopped) return;
    this.#failures++;
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.logger.error('A task of the telemetry thread failed', { task: kind, error: stack });
    if (kind === 'open') this.#openLater();
    else if (this.#cancelOpening === undefined) this.#lookForLife();
  }

  /** A task that fails affects nothing else, unless the whole thread ended: then what it kept is lost. */
  #lookForLife(): void {
    this.#thread?.run({ kind: 'tick' }).catch(() => {
      for (const kind of KINDS) this.#lose(kind, this.#stored[kind]);
      this.#openLater();
    });
  }

  /** Not at once: a thread that fails while it starts would be restarted again and again. */
  #openLater(): void {
    this.#cancelOpening ??= this.#options.clock.after(REOPEN_MS, () => {
      this.#cancelOpening = undefined;
      this.#open();
    });
  }

  #loseBatch({ spanRows, payloads, logs, frames }: TelemetryBatch): void {
    this.#lose('spans', spanRows.length / ROW_LENGTH + frames.filter(({ kind }) => kind === 'OTLP').length);
    this.#lose('payloads', payloads.length);
    this.#lose('logs', logs.length + frames.filter(({ kind }) => kind === 'LOGS').length);
    this.#lose('metrics', frames.filter(({ kind }) => kind === 'MTRC').length);
  }

  #lose(kind: DroppedTelemetry['kind'], count: number): void {
    if (count > 0) this.#options.dropped({ kind, reason: 'thread_failed', count });
  }
}

/** Of the start of an engine that has nothing to do. */
function isOfOwnLinesAlone({ spanRows, frames, calls, jobs, goneSources, workers }: TelemetryBatch): boolean {
  const parts = spanRows.length + frames.length + calls.length + jobs.length + goneSources.length;
  return parts + workers.spawns + workers.deaths === 0;
}

const KINDS = ['spans', 'logs', 'metrics'] as const;

const REOPEN_MS = 1_000;

const UNAVAILABLE: ErrorBody = {
  code: 'STORAGE_UNAVAILABLE',
  message: 'Observed data cannot be read right now; the log of the engine says why',
};

function isErrorAnswer(answer: object): answer is { readonly error: ErrorBody } {
  return 'error' in answer && typeof answer.error === 'object';
}

const EXPORT_PROBLEMS = {
  failing: 'Telemetry cannot be exported: the engine retries, and keeps as much as the queue holds',
  dropping: 'Telemetry is exported too slowly: the newest records are dropped',
};

/** One line for each change (O2). */
function logExportChange(logger: Logger, { signal, address, state, reason }: ExportChange): void {
  const fields = { signal, address, ...(reason !== undefined && { reason }) };
  if (state === 'working') logger.info('Telemetry is exported again', fields);
  else logger.warn(EXPORT_PROBLEMS[state], fields);
}
