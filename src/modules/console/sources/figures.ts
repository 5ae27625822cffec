// Call statistics of functions over the last five minutes, or over the time for which spans are kept, and what workers
// report about their own processes (WRK-1). Both are read at most once every two seconds, for all watchers together.

import type { FunctionFigures, WorkerMetrics } from '../../../console/api/registry.ts';
import type { RouterPort } from '../../../router/port.ts';
import type { Answers, BuiltIns } from './built-ins.ts';

const GROUP_BY = 'engine::traces::group_by';
/** Only the span of a call has this attribute. Its trigger, job and worker have spans with the same function. */
const CALLED = 'faas.invoked_name';
const CALLS_WINDOW_MS = 300_000;
const FRESH_MS = 2_000;
const PARTS = 15;
/** The functions that ran most: the built-in function lists no more. */
const FUNCTIONS_MAX = 1_000;

type FiguresByFunction = ReadonlyMap<string, FunctionFigures>;

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
  async get(withRecent = false): Promise<FiguresByFunction | undefined> {
    const known = await this.#fresh();
    if (known === undefined || withRecent) return known;
    return new Map([...known].map(([id, { recent: _recent, ...figures }]) => [id, figures]));
  }

  #fresh(): Promise<FiguresByFunction | undefined> {
    const { nowMs } = this.#router;
    if (nowMs - this.#askedMs < FRESH_MS) return this.#asked;
    this.#askedMs = nowMs;
    this.#asked = this.#ask(nowMs);
    return this.#asked;
  }

  async #ask(nowMs: number): Promise<FiguresByFunction | undefined> {
    if (!this.#builtIns.has(GROUP_BY)) return undefined;
    const sinceMs = Math.max(this.#router.startedAtMs, nowMs - CALLS_WINDOW_MS);
    const asked = { attribute: CALLED, since_ms: sinceMs, limit: FUNCTIONS_MAX, include_internal: true, parts: PARTS };
    try {
      const { groups, since_ms } = await this.#builtIns.ask(GROUP_BY, asked);
      const minutes = Math.max(1, nowMs - (since_ms ?? sinceMs)) / 60_000;
      return new Map(groups.map((group) => [group.value, figuresOf(group, minutes)] as const));
    } catch {
      // Spans are not kept: the exporter is otlp. Lists have no statistics.
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
};

function figuresOf(group: Answers['engine::traces::group_by']['groups'][number], minutes: number): FunctionFigures {
  return {
    ...NO_FIGURES,
    calls_per_minute: group.span_count / minutes,
    error_rate: group.span_count === 0 ? 0 : group.error_count / group.span_count,
    calls: group.span_count,
    errors: group.error_count,
    p50_ms: group.p50_duration_ms,
    p95_ms: group.p95_duration_ms,
    last_call_at: group.last_seen_ms,
    last_error_at: group.last_error_ms === undefined ? null : Math.round(group.last_error_ms),
    last_error: group.last_error ?? null,
    recent: (group.parts ?? []).map(({ span_count, error_count, duration_ms }) => ({
      calls: span_count,
      errors: error_count,
      total_ms: duration_ms,
    })),
  };
}

const METRICS = 'engine::metrics::list';
/** Workers report every fifteen seconds. An older point is outdated. */
const METRICS_WINDOW_MS = 60_000;

const GAUGES: Readonly<Record<string, keyof WorkerMetrics>> = {
  'iii.worker.cpu.percent': 'cpu_percent',
  'iii.worker.memory.rss': 'memory_bytes',
  'iii.worker.event_loop.lag_ms': 'event_loop_delay_ms',
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
    const figure = GAUGES[name];
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
