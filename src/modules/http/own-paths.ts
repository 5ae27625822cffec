// Paths that the engine answers itself if no route does (PD-59): whether it is alive and takes work, and its metrics.

import { PRESSURE } from '../../core/limits/pressure.ts';
import { metricName } from '../../core/telemetry/metrics/metric-names.ts';
import { familyNames, PROMETHEUS_CONTENT_TYPE, prometheusText } from '../../core/telemetry/metrics/prometheus.ts';
import type { Attributes, MetricRecord, MetricType } from '../../core/telemetry/records/records.ts';
import { ProcessWatch } from '../../effects/process-figures.ts';
import { parseRawJson, rawJson, textToByteString } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { RouterPressure } from '../../router/context.ts';
import type { HeaderLines, HttpExchange } from '../../transport/http.ts';
import type { ModuleContext } from '../module.ts';

export const METRICS_PATH = '/metrics';
export const OWN_PATHS: readonly string[] = ['/healthz', '/livez', '/readyz', METRICS_PATH];

export interface OwnAnswer {
  readonly status: number;
  readonly body: string;
}

/** `undefined`: the path is not one of these. */
export function ownAnswer(context: ModuleContext, method: string, path: string): OwnAnswer | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (path === '/healthz' || path === '/livez') return { status: 200, body: JSON.stringify({ status: 'ok' }) };
  if (path !== '/readyz') return undefined;
  if (context.router.isDraining) return { status: 503, body: JSON.stringify({ status: 'draining' }) };
  const { worstPressure: pressure } = context.router;
  if (pressure.level >= PRESSURE.protect) return { status: 503, body: JSON.stringify({ status: 'overloaded' }) };
  const unhealthy = Object.entries(context.modulesHealth())
    .filter(([, { status }]) => status === 'unhealthy')
    .map(([name]) => name);
  if (unhealthy.length === 0) return { status: 200, body: JSON.stringify({ status: 'ready' }) };
  return { status: 503, body: JSON.stringify({ status: 'unhealthy', modules: unhealthy }) };
}

const ASK_MS = 5_000;
const QUEUES_MAX = 200;
const HEALTH_VALUES = { healthy: 0, degraded: 1, unhealthy: 2 } as const;

type Sample = readonly [value: number, attributes: Attributes];

/**
 * `/metrics` for Prometheus: the metrics of the telemetry thread, and those that only this thread knows. Access follows
 * the rules of `/_console/` (X4).
 */
export class MetricsPage {
  readonly #context: Pick<ModuleContext, 'router' | 'modulesHealth'>;
  readonly #process = new ProcessWatch();

  constructor(context: Pick<ModuleContext, 'router' | 'modulesHealth'>) {
    this.#context = context;
  }

  answer(exchange: HttpExchange, headers: HeaderLines): void {
    this.#write().then((text) =>
      exchange.answer(200, ['content-type', PROMETHEUS_CONTENT_TYPE, ...headers], textToByteString(text)),
    );
  }

  stop(): void {
    this.#process.stop();
  }

  async #write(): Promise<string> {
    const own = prometheusText([...this.#records(), ...(await this.#queueRecords())]);
    // A worker may use any name for its metric; a duplicate name would make the whole page unreadable.
    const observed = await this.#ask('engine::metrics::prometheus', { without: familyNames(own) });
    // Without the observability module, or while it starts, the metrics of this thread are still useful.
    const text = isObject(observed) && typeof observed.text === 'string' ? observed.text : '';
    return text + own;
  }

  #records(): MetricRecord[] {
    const { router, modulesHealth } = this.#context;
    const at = metricMaker(router.nowMs * 1e6);
    const { residentBytes, heapBytes, cpuSeconds, uptimeSeconds, loopDelay } = this.#process.read();
    const delays = loopDelay === undefined ? [] : Object.entries(loopDelay);
    return [
      at(
        metricName('svc.workers.by_status', router.isDropIn ? 'iii' : 'svc'),
        'gauge',
        'Workers by their status',
        this.#workersByStatus(),
      ),
      at('svc.module.health', 'gauge', '0 healthy, 1 degraded, 2 unhealthy', [
        ...Object.entries(modulesHealth()).map(
          ([module, { status }]): Sample => [HEALTH_VALUES[status], [['module', module]]],
        ),
      ]),
      at(
        'svc.event_loop.delay.ms',
        'gauge',
        "Delay of the router's thread since the last measurement, in milliseconds",
        delays.map(([quantile, ms]): Sample => [ms, [['quantile', quantile]]]),
      ),
      at('svc.process.resident_memory.bytes', 'gauge', 'Memory of the process', [[residentBytes, []]]),
      at('svc.process.heap.bytes', 'gauge', "Heap of the router's thread", [[heapBytes, []]]),
      at('svc.process.cpu.seconds', 'counter', 'Processor time of the process', [[cpuSeconds, []]]),
      at('svc.process.uptime.seconds', 'gauge', 'Time since the process started', [[uptimeSeconds, []]]),
      at('svc.pressure.level', 'gauge', '0 normal, 1 busy, 2 shed, 3 protect', [pressureSample(router.worstPressure)]),
      ...this.#counters(at),
    ];
  }

  #workersByStatus(): Sample[] {
    const { router } = this.#context;
    const counts = new Map<string, number>();
    for (const session of router.workers()) {
      const { status } = router.workerRow(session);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return [...counts].map(([status, count]) => [count, [['status', status]]]);
  }

  /** What was dropped, refused or too late: `telemetry.dropped{spans,limit}` (guarantees 1.3). */
  #counters(at: ReturnType<typeof metricMaker>): MetricRecord[] {
    const samples = new Map<string, Sample[]>();
    for (const [key, count] of Object.entries(this.#context.router.counters())) {
      const [, name = key, reason] = /^([^{]+)\{(.*)\}$/s.exec(key) ?? [];
      const list = samples.get(name) ?? [];
      samples.set(name, list);
      list.push([count, reason === undefined ? [] : reasonLabels(name, reason)]);
    }
    return [...samples].map(([name, list]) => at(`svc.${name}`, 'counter', 'Count since the engine started', list));
  }

  async #queueRecords(): Promise<MetricRecord[]> {
    const known = await this.#ask('engine::queue::list_topics', {});
    const names = (Array.isArray(known) ? known : []).flatMap((entry: unknown) =>
      isObject(entry) && typeof entry.name === 'string' ? [entry.name] : [],
    );
    if (names.length > QUEUES_MAX) this.#context.router.count('metrics.left_out', 'queues');
    const queues = await Promise.all(
      names.slice(0, QUEUES_MAX).map(async (queue) => ({
        queue,
        stats: await this.#ask('engine::queue::topic_stats', { topic: queue }),
      })),
    );
    const at = metricMaker(this.#context.router.nowMs * 1e6);
    const samples = (field: string): Sample[] =>
      queues.flatMap(({ queue, stats }): Sample[] => {
        const value = isObject(stats) ? stats[field] : undefined;
        return typeof value === 'number' ? [[value, [['queue', queue]]]] : [];
      });
    const waiting = queues.flatMap(({ queue, stats }): Sample[] => {
      const states = isObject(stats) ? stats.states : undefined;
      const jobs = isObject(states) ? states.waiting_for_worker : undefined;
      return typeof jobs === 'number' ? [[jobs, [['queue', queue]]]] : [];
    });
    return [
      at('svc.queue.waiting_for_worker', 'gauge', 'Jobs whose function no worker offers', waiting),
      at('svc.queue.depth', 'gauge', 'Jobs in a queue, including running ones', samples('depth')),
      at('svc.queue.dead_letters', 'gauge', 'Dead letters of a queue', samples('dlq_depth')),
    ];
  }

  /** The answer of the function; undefined if there is no such function, or it fails. */
  #ask(functionId: string, payload: unknown): Promise<unknown> {
    return new Promise((resolve) => {
      const call = { functionId, payload: Payload.ofText(rawJson(payload)), depth: 0, timeoutMs: ASK_MS };
      this.#context.router.call({ ...call, traceparent: undefined, baggage: undefined }, ({ error, result }) => {
        const text = error === undefined ? result?.asText() : undefined;
        resolve(text === undefined ? undefined : parseRawJson(text));
      });
    });
  }
}

function pressureSample({ level, cause }: RouterPressure): Sample {
  return [level, [['cause', cause?.quantity ?? 'none']]];
}

/** A counter with two labels separates them with a comma. */
function reasonLabels(name: string, reason: string): Attributes {
  const [kind = '', ...rest] = reason.split(',');
  if (name !== 'telemetry.dropped' || rest.length === 0) return [['reason', reason]];
  return [
    ['kind', kind],
    ['reason', rest.join(',')],
  ];
}

function metricMaker(nowNano: number) {
  return (name: string, metric_type: MetricType, description: string, samples: readonly Sample[]): MetricRecord => ({
    name,
    description,
    unit: '',
    metric_type,
    service_name: 'svc',
    timestamp_unix_nano: nowNano,
    data_points: samples.map(([value, attributes]) => ({ value, attributes, timestamp_unix_nano: nowNano })),
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
