// Call statistics of functions in a window of time, and what workers report about their own processes (WRK-1). Both are
// read at most once every two seconds, for all watchers together.

import type { FunctionFigures, WorkerMetrics } from '../../../console/api/registry.ts';
import { metricName } from '../../../core/telemetry/metrics/metric-names.ts';
import type { RouterPort } from '../../../router/port.ts';
import type { Answers, BuiltIns } from './built-ins.ts';

const CALLS = 'engine::metrics::calls';
export const CALLS_WINDOW_MS = 300_000;
const FRESH_MS = 2_000;
const PARTS = 15;

type FiguresByFunction = ReadonlyMap<string, FunctionFigures>;

/** Unix milliseconds. */
export interface FigureWindow {
  readonly start_time?: number;
  readonly end_time?: number;
}

export class Figures {
  readonly #router: RouterPort;
  readonly #builtIns: BuiltIns;
  #askedMs = Number.NEGATIVE_INFINITY;
  #asked: Promise<FiguresByFunction | undefined> = Promise.resolve(undefined);

  constructor(router: RouterPort, builtIns: BuiltIns) {
    this.#router = router;
    this.#builtIns = builtIns;
  }

  /** `undefined`: nothing is measured here. `recent` is left out unless a view draws it. */
  async get(window: FigureWindow = {}, withRecent = false): Promise<FiguresByFunction | undefined> {
    const isUsual = window.start_time === undefined && window.end_time === undefined;
    const known = await (isUsual ? this.#fresh() : this.#ask(window));
    if (known === undefined || withRecent) return known;
    return new Map([...known].map(([id, { recent: _recent, ...figures }]) => [id, figures]));
  }

  #fresh(): Promise<FiguresByFunction | undefined> {
    const { nowMs } = this.#router;
    if (nowMs - this.#askedMs < FRESH_MS) return this.#asked;
    this.#askedMs = nowMs;
    this.#asked = this.#ask({});
    return this.#asked;
  }

  async #ask({ start_time, end_time = this.#router.nowMs }: FigureWindow): Promise<FiguresByFunction | undefined> {
    if (!this.#builtIns.has(CALLS)) return undefined;
    const asked = { start_time: start_time ?? end_time - CALLS_WINDOW_MS, end_time, points: PARTS };
    try {
      const answer = await this.#builtIns.ask(CALLS, asked);
      // Nothing was counted before the engine started.
      const minutes = Math.max(1_000, end_time - (answer.since_ms ?? answer.start_ms)) / 60_000;
      return new Map(answer.functions.map((row) => [row.function_id, figuresOf(row, minutes)] as const));
    } catch {
      // Nothing is observed: lists have no statistics.
      return undefined;
    }
  }
}

export const NO_FIGURES: FunctionFigures = {
  calls_per_minute: 0,
  error_rate: 0,
  calls: 0,
  errors: 0,
  p50_ms: null,
  p95_ms: null,
  p99_ms: null,
  last_call_at: null,
  last_error_at: null,
  last_error: null,
  last_error_trace: null,
};

function figuresOf(row: Answers['engine::metrics::calls']['functions'][number], minutes: number): FunctionFigures {
  const { calls, errors, last_error: failed } = row;
  return {
    calls_per_minute: calls / minutes,
    error_rate: calls === 0 ? 0 : errors / calls,
    calls,
    errors,
    p50_ms: row.p50_ms,
    p95_ms: row.p95_ms,
    p99_ms: row.p99_ms,
    last_call_at: row.last_call_ms,
    last_error_at: failed === null ? null : Math.round(failed.at_ms),
    last_error: failed?.text ?? null,
    last_error_trace: failed?.trace_id ?? null,
    recent: row.points.map(({ calls, errors, total_ms }) => ({ calls, errors, total_ms })),
  };
}

const METRICS = 'engine::metrics::list';
/** Workers report every fifteen seconds. An older point is outdated. */
const METRICS_WINDOW_MS = 60_000;

const GAUGES: Readonly<Record<string, keyof WorkerMetrics>> = {
  'svc.worker.cpu.percent': 'cpu_percent',
  'svc.worker.memory.rss': 'memory_bytes',
  'svc.worker.event_loop.lag_ms': 'event_loop_delay_ms',
};

export const NO_METRICS: WorkerMetrics = { cpu_percent: null, memory_bytes: null, event_loop_delay_ms: null };

export type MetricsByWorker = ReadonlyMap<string, WorkerMetrics>;

export class WorkerFigures {
  readonly #router: RouterPort;
  readonly #builtIns: BuiltIns;
  #askedMs = Number.NEGATIVE_INFINITY;
  #asked: Promise<MetricsByWorker> = Promise.resolve(new Map());

  constructor(router: RouterPort, builtIns: BuiltIns) {
    this.#router = router;
    this.#builtIns = builtIns;
  }

  get(): Promise<MetricsByWorker> {
    const { nowMs } = this.#router;
    if (nowMs - this.#askedMs < FRESH_MS) return this.#asked;
    this.#askedMs = nowMs;
    this.#asked = this.#ask(nowMs);
    return this.#asked;
  }

  async #ask(nowMs: number): Promise<MetricsByWorker> {
    if (!this.#builtIns.has(METRICS)) return new Map();
    try {
      const asked = { start_time: nowMs - METRICS_WINDOW_MS };
      const { sdk_metrics } = await this.#builtIns.ask(METRICS, asked);
      return newest(sdk_metrics);
    } catch {
      // Metrics are not kept: workers are listed without them.
      return new Map();
    }
  }
}

function newest(metrics: Answers['engine::metrics::list']['sdk_metrics']): MetricsByWorker {
  const byWorker = new Map<string, WorkerMetrics>();
  for (const { name, data_points: points } of metrics) {
    const figure = GAUGES[metricName(name, 'svc')];
    if (figure === undefined) continue;
    const inOrder = points.toSorted((a, b) => a.timestamp_unix_nano - b.timestamp_unix_nano);
    for (const point of inOrder) {
      const { attributes } = point;
      const value = 'value' in point ? point.value : undefined;
      const [, id] = attributes.find(([key]) => key === 'worker.id') ?? [];
      if (id === undefined || value === undefined) continue;
      byWorker.set(id, { ...(byWorker.get(id) ?? NO_METRICS), [figure]: value });
    }
  }
  return byWorker;
}
