// The data of `svc top`: two samples, and the rates between them.

import { metricName } from '../../../core/telemetry/metrics/metric-names.ts';
import { isSvcError } from '../../../sdk/calls/errors.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { isRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';

export interface FunctionFigures {
  readonly function_id: string;
  /** Since the previous sample. */
  readonly calls_per_second: number;
  readonly errors_per_second: number;
  /** Since the engine started. */
  readonly calls: number;
  readonly errors: number;
  readonly p95_ms: number | null;
}

export interface QueueFigures {
  readonly queue: string;
  readonly depth: number;
  readonly running: number;
  readonly dead: number;
  readonly paused: boolean;
}

export interface WorkerFigures {
  readonly worker: string;
  readonly status: string;
  readonly functions: number;
  readonly in_flight: number;
  readonly cpu_percent: number | null;
  readonly memory_bytes: number | null;
}

export interface TopFigures {
  /** ISO 8601. */
  readonly time: string;
  readonly interval_ms: number;
  /** Null: the engine counts no calls. */
  readonly calls_per_second: number | null;
  readonly errors_per_second: number | null;
  readonly functions: readonly FunctionFigures[];
  readonly queues: readonly QueueFigures[];
  readonly workers: readonly WorkerFigures[];
}

/** The counts of one sample, by function. */
export interface CallSample {
  readonly atMs: number;
  readonly isCounted: boolean;
  /** The last values of workers, by worker and metric. */
  readonly gauges: ReadonlyMap<string, number>;
  readonly counts: ReadonlyMap<
    string,
    { readonly calls: number; readonly errors: number; readonly p95: number | null }
  >;
}

const QUEUES_MAX = 50;
const POINTS_MS = 60_000;

export async function sampleCalls(engine: EngineConnection, atMs: number): Promise<CallSample> {
  // The points of a minute: workers report each fifteen seconds, and a cluster sends the points of all engines.
  const answer = await engine.call('engine::metrics::list', { start_time: Date.now() - POINTS_MS });
  const engineMetrics = isRecord(answer) && isRecord(answer.engine_metrics) ? answer.engine_metrics : {};
  const counts = recordsIn(engineMetrics, 'functions').map((row) => {
    const [ok, error, deferred] = ['ok', 'error', 'deferred'].map((name) => numberIn(row, name) ?? 0);
    const calls = (ok ?? 0) + (error ?? 0) + (deferred ?? 0);
    return [
      textIn(row, 'function_id'),
      { calls, errors: error ?? 0, p95: numberIn(row, 'p95_duration_ms') ?? null },
    ] as const;
  });
  const isCounted = counts.length > 0 || (await countsCalls(engine));
  return { atMs, isCounted, counts: new Map(counts), gauges: readGauges(answer) };
}

async function countsCalls(engine: EngineConnection): Promise<boolean> {
  return await engine.call('engine::metrics::calls', { by_function: false }).then(
    () => true,
    (error: unknown) => {
      if (isSvcError(error, 'memory_exporter_not_enabled')) return false;
      throw error;
    },
  );
}

const CPU = 'svc.worker.cpu.percent';
const MEMORY = 'svc.worker.memory.rss';

/** An engine in drop-in mode names them `iii.*`. */
function gaugeName(metric: Readonly<Record<string, unknown>>): string {
  return metricName(textIn(metric, 'name'), 'svc');
}

function readGauges(answer: unknown): Map<string, number> {
  const gauges = recordsIn(answer, 'sdk_metrics').filter((metric) => [CPU, MEMORY].includes(gaugeName(metric)));
  return new Map(
    gauges.flatMap((metric) => {
      const value = numberIn(recordsIn(metric, 'data_points').at(-1) ?? {}, 'value');
      return value === undefined ? [] : [[`${textIn(metric, 'service_name')} ${gaugeName(metric)}`, value] as const];
    }),
  );
}

/** The busiest first. A count that decreased comes from a restarted engine: all of it is new. */
export function compareSamples(before: CallSample, now: CallSample): FunctionFigures[] {
  const seconds = Math.max(0.001, (now.atMs - before.atMs) / 1_000);
  return [...now.counts]
    .map(([functionId, { calls, errors, p95 }]) => {
      const known = before.counts.get(functionId);
      const risen = (value: number, earlier: number) => (value >= earlier ? value - earlier : value) / seconds;
      return {
        function_id: functionId,
        calls_per_second: round(risen(calls, known?.calls ?? 0)),
        errors_per_second: round(risen(errors, known?.errors ?? 0)),
        calls,
        errors,
        p95_ms: p95 === null ? null : round(p95),
      };
    })
    .sort((a, b) => b.calls_per_second - a.calls_per_second || b.calls - a.calls);
}

export async function readQueues(engine: EngineConnection): Promise<QueueFigures[]> {
  const known = await engine.call('engine::queue::list_topics', {}).catch((error) => {
    // An engine without the queue module.
    if (isSvcError(error, 'function_not_found')) return [];
    throw error;
  });
  const names = (Array.isArray(known) ? known : []).flatMap((entry) =>
    isRecord(entry) ? [textIn(entry, 'name')] : [],
  );
  const queues = await Promise.all(
    names.slice(0, QUEUES_MAX).map(async (queue) => {
      const stats = await engine.call('engine::queue::topic_stats', { topic: queue });
      const queueStats = isRecord(stats) ? stats : {};
      const states = isRecord(queueStats.states) ? queueStats.states : {};
      return {
        queue,
        depth: numberIn(queueStats, 'depth') ?? 0,
        running: numberIn(states, 'running') ?? 0,
        dead: numberIn(queueStats, 'dlq_depth') ?? 0,
        paused: queueStats.paused === true,
      };
    }),
  );
  return queues.sort((a, b) => b.depth - a.depth || (a.queue < b.queue ? -1 : 1));
}

export async function readWorkers(engine: EngineConnection, { gauges }: CallSample): Promise<WorkerFigures[]> {
  const answer = await engine.call('engine::workers::list', {});
  return recordsIn(answer, 'workers')
    .filter((worker) => textIn(worker, 'runtime') !== 'engine')
    .map((worker) => {
      const latest = isRecord(worker.latest_metrics) ? worker.latest_metrics : {};
      const name = textIn(worker, 'name');
      return {
        worker: name || textIn(worker, 'id'),
        status: textIn(worker, 'status'),
        functions: numberIn(worker, 'function_count') ?? 0,
        in_flight: numberIn(worker, 'active_invocations') ?? 0,
        cpu_percent: numberIn(latest, 'cpu_percent') ?? gauges.get(`${name} ${CPU}`) ?? null,
        memory_bytes: numberIn(latest, 'memory_rss') ?? gauges.get(`${name} ${MEMORY}`) ?? null,
      };
    })
    .sort((a, b) => b.in_flight - a.in_flight || (a.worker < b.worker ? -1 : 1));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
