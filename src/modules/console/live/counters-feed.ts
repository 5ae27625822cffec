// The topic `counters`: one snapshot a second while there is a watcher (DSH-1). Without a watcher one snapshot in ten
// seconds is taken, so that the Dashboard opens with the last fifteen minutes (DSH-2). The first is taken once a worker
// or a watcher has connected: what counts calls then runs, which an engine without any work does not start.
//
// Invariant: `#past` is ascending in time and holds at most HISTORY_ITEMS items.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { CountersItem } from '../../../console/api/live.ts';
import type { ConsoleContext } from '../console-context.ts';
import { listQueues } from '../routes/queue-routes.ts';
import { countsOf } from '../routes/system-routes.ts';
import { Feed } from './feed.ts';

const INTERVAL_MS = 1_000;
const HISTORY_STEP_MS = 10_000;
/** Fifteen minutes. */
const HISTORY_ITEMS = 90;
/** Rates and durations are those of the calls that ended within it: those of one second would jump. */
const WINDOW_MS = 60_000;
const RESOLUTION_MS = 20;

export class CountersFeed extends Feed {
  /** Made for the first watcher: it takes 0.4 MiB. */
  #delay: IntervalHistogram | undefined;
  #past: CountersItem[] = [];
  #stopRecording: (() => void) | undefined;

  constructor(context: ConsoleContext) {
    super(context, INTERVAL_MS);
  }

  /** From now on there is a history. */
  record(): void {
    this.#stopRecording ??= this.context.module.clock.every(HISTORY_STEP_MS, () => {
      if (this.isIdle && this.#hasBegun()) void this.look().catch(() => {});
    });
  }

  stopRecording(): void {
    this.#stopRecording?.();
    this.#stopRecording = undefined;
  }

  override stop(): void {
    super.stop();
    this.#delay?.disable();
    this.#delay?.reset();
  }

  protected override first(): readonly CountersItem[] {
    return this.#past;
  }

  protected override begin(): void {
    this.#delay ??= monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#delay.enable();
  }

  #hasBegun(): boolean {
    const { history, module } = this.context;
    return this.#past.length > 0 || module.router.workers().length > 0 || history.elsewhere.length > 0;
  }

  protected override async look(): Promise<readonly CountersItem[]> {
    const { router } = this.context.module;
    const [counts, calls, queues] = await Promise.all([
      countsOf(this.context),
      this.#calls(),
      listQueues(this.context).catch(() => undefined),
    ]);
    const item: CountersItem = {
      at: router.nowMs,
      ...counts,
      ...(calls ?? NOT_COUNTED),
      queue_depth:
        queues?.reduce((sum, row) => sum + row.waiting + (row.delayed ?? 0) + (row.retrying ?? 0), 0) ?? null,
      in_flight: router.callsInFlight,
      rss_bytes: process.memoryUsage.rss(),
      event_loop_delay_ms: this.#readDelay(),
    };
    this.#keep(item);
    return [item];
  }

  #keep(item: CountersItem): void {
    const newest = this.#past.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
    // The clock was set back: the kept snapshots lie in the future.
    if (item.at < newest) this.#past = [];
    else if (item.at - newest < HISTORY_STEP_MS - INTERVAL_MS / 2) return;
    this.#past = [...this.#past.slice(1 - HISTORY_ITEMS), item];
  }

  /** Measured only while there is a watcher. */
  #readDelay(): number | null {
    const delay = this.#delay;
    if (delay === undefined || delay.count === 0) return null;
    const delayMs = (delay.percentile(99) - RESOLUTION_MS * 1e6) / 1e6;
    delay.reset();
    return Math.max(0, delayMs);
  }

  /** Of the last minute, or since the engine started. `undefined`: nothing is counted here. */
  async #calls(): Promise<CallFigures | undefined> {
    const { builtIns, module } = this.context;
    const { nowMs } = module.router;
    const answer = await builtIns
      .ask('engine::metrics::calls', { start_time: nowMs - WINDOW_MS, end_time: nowMs, by_function: false })
      .catch(() => undefined);
    if (answer === undefined) return undefined;
    const { total, since_ms, start_ms } = answer;
    const seconds = Math.max(1_000, nowMs - (since_ms ?? start_ms)) / 1_000;
    return {
      calls_per_s: total.calls / seconds,
      errors_per_s: total.errors / seconds,
      p50_ms: total.p50_ms,
      p95_ms: total.p95_ms,
      p99_ms: total.p99_ms,
    };
  }
}

type CallFigures = Pick<CountersItem, 'calls_per_s' | 'errors_per_s' | 'p50_ms' | 'p95_ms' | 'p99_ms'>;

const NOT_COUNTED: CallFigures = { calls_per_s: null, errors_per_s: null, p50_ms: null, p95_ms: null, p99_ms: null };
