// The topic `counters`: one snapshot a second while there is a watcher (DSH-1). Without a watcher one snapshot in ten
// seconds is taken, so that the Dashboard opens with the last fifteen minutes (DSH-2).
//
// Invariant: `#past` is ascending in time and holds at most HISTORY_ITEMS items.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { CountersItem } from '../../../console/api/live.ts';
import type { EngineMetrics } from '../../../console/api/telemetry.ts';
import type { ConsoleContext } from '../console-context.ts';
import { listQueues } from '../routes/queue-routes.ts';
import { countsOf } from '../routes/system-routes.ts';
import { Feed } from './feed.ts';

const INTERVAL_MS = 1_000;
const HISTORY_STEP_MS = 10_000;
/** Fifteen minutes. */
const HISTORY_ITEMS = 90;
/** Latencies are those of the calls that ended within it. */
const LATENCY_WINDOW_MS = 60_000;
const RESOLUTION_MS = 20;

export class CountersFeed extends Feed {
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #rates = new RateBase<EngineMetrics>(INTERVAL_MS / 2);
  #past: CountersItem[] = [];
  #stopRecording: (() => void) | undefined;

  constructor(context: ConsoleContext) {
    super(context, INTERVAL_MS);
  }

  /** From now on there is a history. */
  record(): void {
    this.#stopRecording ??= this.context.module.clock.every(HISTORY_STEP_MS, () => {
      if (this.isIdle) void this.look().catch(() => {});
    });
  }

  stopRecording(): void {
    this.#stopRecording?.();
    this.#stopRecording = undefined;
  }

  override stop(): void {
    super.stop();
    this.#delay.disable();
    this.#delay.reset();
  }

  protected override first(): readonly CountersItem[] {
    return this.#past;
  }

  protected override begin(): void {
    this.#delay.enable();
  }

  protected override async look(): Promise<readonly CountersItem[]> {
    const { router } = this.context.module;
    const [counts, taken, queues] = await Promise.all([
      countsOf(this.context),
      this.#metrics(),
      listQueues(this.context).catch(() => undefined),
    ]);
    if (taken === undefined) this.#rates.forget();
    const base = taken && this.#rates.take(taken);
    const metrics = taken?.value;
    const perSecond = (of: (metrics: EngineMetrics) => number): number | null => {
      if (taken === undefined || base === undefined) return null;
      return Math.max(0, ((of(taken.value) - of(base.value)) * 1_000) / (taken.atMs - base.atMs));
    };
    const item: CountersItem = {
      at: router.nowMs,
      ...counts,
      calls_per_s: perSecond(({ invocations }) => invocations.total),
      errors_per_s: perSecond(({ invocations }) => invocations.error),
      p50_ms: metrics?.performance.p50_duration_ms ?? null,
      p95_ms: metrics?.performance.p95_duration_ms ?? null,
      p99_ms: metrics?.performance.p99_duration_ms ?? null,
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
    if (this.#delay.count === 0) return null;
    const delayMs = (this.#delay.percentile(99) - RESOLUTION_MS * 1e6) / 1e6;
    this.#delay.reset();
    return Math.max(0, delayMs);
  }

  /** With the time of the answer: other questions of the same poll may take longer. */
  async #metrics(): Promise<Snapshot<EngineMetrics> | undefined> {
    const { builtIns } = this.context;
    if (!builtIns.has('engine::metrics::list')) return undefined;
    const asked = { start_time: this.context.module.router.nowMs - LATENCY_WINDOW_MS };
    const { engine_metrics } = await builtIns.ask('engine::metrics::list', asked);
    return { atMs: this.context.module.clock.monotonicMs(), value: engine_metrics };
  }
}

export interface Snapshot<T> {
  readonly atMs: number;
  readonly value: T;
}

/**
 * What a rate is measured against: the newest earlier snapshot that is old enough. Counts arrive in batches. Between
 * two polls that happen close together, a whole batch or none would look like a burst or a standstill.
 */
export class RateBase<T> {
  readonly #leastMs: number;
  #taken: readonly Snapshot<T>[] = [];

  constructor(leastMs: number) {
    this.#leastMs = leastMs;
  }

  /** Keeps the newest snapshot and returns the one to compare with. Undefined: none is old enough yet. */
  take(newest: Snapshot<T>): Snapshot<T> | undefined {
    const at = this.#taken.findLastIndex(({ atMs }) => newest.atMs - atMs >= this.#leastMs);
    const base = this.#taken[at];
    this.#taken = [...this.#taken.slice(Math.max(0, at)), newest];
    return base;
  }

  /** Forgets earlier counts, which are unrelated to later ones. */
  forget(): void {
    this.#taken = [];
  }
}
