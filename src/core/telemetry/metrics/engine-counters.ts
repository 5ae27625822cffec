// The engine's own totals: calls, their times, workers (modules 11.6). Alert rules compare the increase of a counter
// within their window, so its past is kept for the longest possible window: rules come and change while the engine
// runs. Counts of each function are in `engine-metrics.ts`.

import type { CallCounts, DurationCounts, WorkerCounts } from '../records/intake.ts';
import { ALERT_WINDOW_SECONDS_MAX } from './alert-rules.ts';
import { NO_DURATIONS, sumOfDurations } from './durations.ts';
import { metricName } from './metric-names.ts';
import type { WindowPart } from './window-part.ts';

const COUNTERS = [
  'svc.invocations.total',
  'svc.invocations.success',
  'svc.invocations.error',
  'svc.invocations.deferred',
  'svc.workers.spawns',
  'svc.workers.deaths',
] as const;
type Counter = (typeof COUNTERS)[number];
type Values = Readonly<Record<Counter, number>>;

const ACTIVE = 'svc.workers.active';

/** Whether it is one of these, with either prefix (PD-45); any other is a metric of workers. */
export function isOfEngine(metric: string): boolean {
  const name = metricName(metric, 'svc');
  return name === ACTIVE || COUNTERS.some((known) => known === name);
}

interface Moment {
  readonly timeMs: number;
  readonly values: Values;
}

/** Windows are whole seconds, and rules are evaluated every ten. */
const REMEMBER_EVERY_MS = 1_000;
/** For older readings, once a minute is enough. */
const LONG_AGO_MS = 10 * 60_000;
const LONG_AGO_EVERY_MS = 60_000;
const LOOKBACK_MS = ALERT_WINDOW_SECONDS_MAX * 1_000;
/** Twice the number of readings that are kept after trimming. */
const MOMENTS_TIDY_AT = 4_000;

export class EngineCounters {
  #success = 0;
  #error = 0;
  #deferred = 0;
  #spawns = 0;
  #deaths = 0;
  #durations = NO_DURATIONS;
  /** The readings just before that time, oldest first. */
  #past: Moment[] = [];

  get invocations() {
    const [success, error, deferred] = [this.#success, this.#error, this.#deferred];
    return { total: success + error + deferred, success, error, deferred };
  }

  get workers() {
    return { spawns: this.#spawns, deaths: this.#deaths, active: this.#spawns - this.#deaths };
  }

  add(calls: readonly CallCounts[], { spawns, deaths }: WorkerCounts, nowMs: number): void {
    this.#remember(nowMs);
    for (const counts of calls) {
      this.#success += counts.ok;
      this.#error += counts.error;
      this.#deferred += counts.deferred;
      this.#durations = sumOfDurations(sumOfDurations(this.#durations, counts.okDurations), counts.errorDurations);
    }
    this.#spawns += spawns;
    this.#deaths += deaths;
  }

  /** Of all calls that ended. */
  get durations(): DurationCounts {
    return this.#durations;
  }

  /** What an alert rule compares; undefined for a name that is none of these. */
  windowPart(metric: string, startMs: number): WindowPart | undefined {
    const name = metricName(metric, 'svc');
    if (name === ACTIVE) return { sum: this.workers.active };
    const counter = COUNTERS.find((known) => known === name);
    if (counter === undefined) return undefined;
    // A reading covers the time until it was taken; after the last one nothing has changed.
    const now = this.#values();
    const before = this.#past.find(({ timeMs }) => timeMs > startMs)?.values ?? now;
    return { sum: now[counter] - before[counter] };
  }

  #values(): Values {
    return {
      'svc.invocations.total': this.#success + this.#error + this.#deferred,
      'svc.invocations.success': this.#success,
      'svc.invocations.error': this.#error,
      'svc.invocations.deferred': this.#deferred,
      'svc.workers.spawns': this.#spawns,
      'svc.workers.deaths': this.#deaths,
    };
  }

  #remember(nowMs: number): void {
    const last = this.#past.at(-1);
    // After a clock was set back, all readings lie in the future.
    if (last !== undefined && nowMs < last.timeMs) this.#past = [];
    else if (last !== undefined && nowMs - last.timeMs < REMEMBER_EVERY_MS) return;
    this.#past.push({ timeMs: nowMs, values: this.#values() });
    if (this.#past.length >= MOMENTS_TIDY_AT) this.#past = thinOut(this.#past, nowMs);
  }
}

function thinOut(past: readonly Moment[], nowMs: number): Moment[] {
  let keptMs = Number.NEGATIVE_INFINITY;
  return past.filter(({ timeMs }) => {
    if (timeMs <= nowMs - LOOKBACK_MS) return false;
    if (timeMs < nowMs - LONG_AGO_MS && timeMs - keptMs < LONG_AGO_EVERY_MS) return false;
    keptMs = timeMs;
    return true;
  });
}
