// The load of a benchmark: the clients, and how long their operations took. Each client runs one operation at a time.
// The next one starts when the last has ended, or, with a rate, at its time on the schedule.
//
// With a rate, an operation that starts late because the one before it took long is measured from its scheduled start.
// Otherwise slow moments, in which few operations start, would hardly show in the result.

import { build, type Histogram } from 'hdr-histogram-js';
import { isSvcError } from '../../../sdk/calls/errors.ts';
import type { Outcome } from './stages.ts';

export interface LoadPlan {
  readonly clients: number;
  /** Ends after this number of operations, or after this time. */
  readonly messages: number | undefined;
  readonly durationMs: number;
  readonly warmupMs: number;
  /** Of all clients together; undefined: as fast as possible. */
  readonly perSecond: number | undefined;
}

export interface LoadResult {
  readonly ops: number;
  readonly elapsedMs: number;
  readonly perClient: readonly number[];
  readonly errors: Readonly<Record<string, number>>;
  readonly latencies: Latencies;
}

export interface LoadControl {
  elapsedMs(): number;
  /** Called regularly with the number of operations done, and of how many. */
  progress(ops: number, share: number, elapsedMs: number): void;
  isStopped(): boolean;
}

const PROGRESS_MS = 1_000;

export async function runLoad(
  plan: LoadPlan,
  control: LoadControl,
  once: (client: number) => Promise<Outcome>,
): Promise<LoadResult> {
  const run = new Run(plan, control, once);
  await Promise.all(Array.from({ length: plan.clients }, (_, client) => run.client(client)));
  return run.result();
}

class Run {
  readonly #plan: LoadPlan;
  readonly #control: LoadControl;
  readonly #once: (client: number) => Promise<Outcome>;
  readonly #latencies = new Latencies();
  readonly #errors = new Map<string, number>();
  readonly #perClient: number[];
  readonly #startedMs: number;
  /** When the measured part began: after the warm-up. */
  #countedFromMs: number | undefined;
  #started = 0;
  #ended = 0;
  #slots = 0;
  #reportedMs = 0;

  constructor(plan: LoadPlan, control: LoadControl, once: (client: number) => Promise<Outcome>) {
    this.#plan = plan;
    this.#control = control;
    this.#once = once;
    this.#perClient = Array.from({ length: plan.clients }, () => 0);
    this.#startedMs = control.elapsedMs();
  }

  async client(client: number): Promise<void> {
    for (;;) {
      const isCounted = this.#isCounted();
      if (!this.#mayStart(isCounted)) return;
      const dueMs = await this.#due();
      const startedMs = this.#control.elapsedMs();
      try {
        const { ops, tookMs = this.#control.elapsedMs() - (dueMs ?? startedMs) } = await this.#once(client);
        if (!isCounted) continue;
        this.#latencies.record(tookMs);
        this.#perClient[client] = (this.#perClient[client] ?? 0) + ops;
      } catch (error) {
        if (!isSvcError(error)) throw error;
        if (!isCounted) continue;
        this.#errors.set(error.code, (this.#errors.get(error.code) ?? 0) + 1);
      }
      this.#ended++;
      this.#reportProgress();
    }
  }

  result(): LoadResult {
    const now = this.#control.elapsedMs();
    return {
      ops: this.#ops(),
      elapsedMs: now - (this.#countedFromMs ?? now),
      perClient: this.#perClient,
      errors: Object.fromEntries(this.#errors),
      latencies: this.#latencies,
    };
  }

  #ops(): number {
    return this.#perClient.reduce((sum, ops) => sum + ops, 0);
  }

  #mayStart(isCounted: boolean): boolean {
    if (this.#control.isStopped()) return false;
    const { messages, durationMs, warmupMs } = this.#plan;
    if (messages !== undefined) return !isCounted || this.#started++ < messages;
    return this.#control.elapsedMs() - this.#startedMs < warmupMs + durationMs;
  }

  #isCounted(): boolean {
    const now = this.#control.elapsedMs();
    if (this.#countedFromMs === undefined && now - this.#startedMs >= this.#plan.warmupMs) this.#countedFromMs = now;
    return this.#countedFromMs !== undefined;
  }

  /** Waits for the next time on the schedule, and returns it. */
  async #due(): Promise<number | undefined> {
    const { perSecond } = this.#plan;
    if (perSecond === undefined) return undefined;
    const dueMs = this.#startedMs + (this.#slots++ / perSecond) * 1_000;
    const waitMs = dueMs - this.#control.elapsedMs();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    return dueMs;
  }

  #reportProgress(): void {
    const now = this.#control.elapsedMs();
    const countedFromMs = this.#countedFromMs;
    if (countedFromMs === undefined || now - Math.max(this.#reportedMs, countedFromMs) < PROGRESS_MS) return;
    this.#reportedMs = now;
    const elapsedMs = now - countedFromMs;
    const { messages, durationMs } = this.#plan;
    // A failed operation counts as ended, and one operation of a fan-out counts once for each delivery.
    const share = messages === undefined ? elapsedMs / durationMs : this.#ended / messages;
    this.#control.progress(this.#ops(), share, elapsedMs);
  }
}

const US_MAX = 3_600_000_000;

export interface LatencySummary {
  readonly min_ms: number;
  readonly p50_ms: number;
  readonly p90_ms: number;
  readonly p99_ms: number;
  readonly p999_ms: number;
  readonly max_ms: number;
  readonly sd_ms: number;
}

export class Latencies {
  readonly #histogram: Histogram = build({ highestTrackableValue: US_MAX, numberOfSignificantValueDigits: 3 });

  record(tookMs: number): void {
    this.#histogram.recordValue(Math.min(US_MAX, Math.max(1, Math.round(tookMs * 1_000))));
  }

  clear(): void {
    this.#histogram.reset();
  }

  summary(): LatencySummary {
    const histogram = this.#histogram;
    // A percentile is the upper end of its bucket, which may lie above the largest value.
    const at = (percentile: number) => Math.min(histogram.getValueAtPercentile(percentile), histogram.maxValue) / 1_000;
    const isEmpty = histogram.totalCount === 0;
    return {
      min_ms: isEmpty ? 0 : histogram.minNonZeroValue / 1_000,
      p50_ms: at(50),
      p90_ms: at(90),
      p99_ms: at(99),
      p999_ms: at(99.9),
      max_ms: histogram.maxValue / 1_000,
      sd_ms: isEmpty ? 0 : histogram.stdDeviation / 1_000,
    };
  }

  /** The text that plotting tools for HDR histograms read, in milliseconds. */
  distribution(): string {
    return this.#histogram.outputPercentileDistribution(5, 1_000);
  }
}
