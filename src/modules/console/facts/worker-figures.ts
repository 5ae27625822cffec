// What workers report about their own processes (WRK-1): the newest point of each gauge within the last minute, by
// worker. It is read at most once every two seconds, for all watchers together.

import type { WorkerMetrics } from '../../../console-api/workers.ts';
import { isWorkerGauges } from '../../../generated/console-answers.ts';
import type { RouterPort } from '../../../router/port.ts';
import type { WorkerGauges } from './answers.ts';
import type { BuiltIns } from './built-ins.ts';

const METRICS = 'engine::metrics::list';
/** Workers report every fifteen seconds. An older point is outdated. */
const WINDOW_MS = 60_000;
const FRESH_MS = 2_000;

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
      const asked = { start_time: nowMs - WINDOW_MS };
      const { sdk_metrics } = await this.#builtIns.typed<WorkerGauges>(METRICS, asked, isWorkerGauges);
      return newest(sdk_metrics);
    } catch {
      // Metrics are not kept: workers are listed without them.
      return new Map();
    }
  }
}

function newest(metrics: WorkerGauges['sdk_metrics']): MetricsByWorker {
  const byWorker = new Map<string, WorkerMetrics>();
  for (const { name, data_points: points } of metrics) {
    const figure = GAUGES[name];
    if (figure === undefined) continue;
    const inOrder = points.toSorted((a, b) => a.timestamp_unix_nano - b.timestamp_unix_nano);
    for (const { value, attributes } of inOrder) {
      const [, id] = attributes.find(([key]) => key === 'worker.id') ?? [];
      if (id === undefined || value === undefined) continue;
      byWorker.set(id, { ...(byWorker.get(id) ?? NO_METRICS), [figure]: value });
    }
  }
  return byWorker;
}
