// The telemetry of an engine in memory: its collector passes batches directly to the opener, without threads.

import { PRESSURE } from '../../../src/core/limits/pressure.ts';
import type { CallCounts, TelemetryBatch, WorkerCounts } from '../../../src/core/telemetry/records/intake.ts';
import { BatchOpener } from '../../../src/core/telemetry/records/open-batch.ts';
import type { LogRecord, MetricRecord, SpanRecord } from '../../../src/core/telemetry/records/records.ts';
import { Collector, type CollectorSettings } from '../../../src/core/telemetry/spans/collector.ts';
import type { SamplingSettings } from '../../../src/core/telemetry/spans/sampling.ts';
import type { EngineInMemory } from '../engine/engine-in-memory.ts';

export const ALL_TRACES: SamplingSettings = {
  defaultRate: 1,
  rules: [],
  isParentBased: true,
  tracesPerSecondMax: Number.POSITIVE_INFINITY,
};

export const OBSERVE_ALL: CollectorSettings = {
  serviceName: 'svc',
  prefix: 'svc',
  sampling: ALL_TRACES,
  spansKept: Number.POSITIVE_INFINITY,
  hasLogs: true,
  logsRatio: 1,
  hasMetrics: true,
  payloads: undefined,
};

export class Observed {
  readonly collector: Collector;
  /** While true the telemetry thread accepts nothing. */
  isFull = false;
  readonly batches: TelemetryBatch[] = [];
  readonly #opener: BatchOpener;
  readonly #spans = new Map<string, SpanRecord>();
  readonly #logs: LogRecord[] = [];
  readonly #metrics: MetricRecord[] = [];
  readonly #calls: CallCounts[] = [];
  readonly #workers: WorkerCounts[] = [];
  readonly drops: string[] = [];

  constructor(engine: EngineInMemory, settings: Partial<CollectorSettings> = {}) {
    const { clock, context } = engine;
    const observed = this;
    this.#opener = new BatchOpener({
      service: { serviceName: 'svc', engineVersion: '0.0.0', resource: { 'service.name': 'svc' } },
      logsRatio: () => settings.logsRatio ?? 1,
      nowMs: () => clock.nowMs(),
      token: () => context.random.token(),
      isQuiet: (traceId) => context.quietTraces.isMarked(traceId),
    });
    this.collector = new Collector(
      { ...OBSERVE_ALL, ...settings },
      {
        nowMs: () => clock.nowMs(),
        monotonicMs: () => clock.monotonicMs(),
        after: (delayMs, task) => clock.after(delayMs, task),
        token: () => context.random.token(),
        fraction: () => context.random.fraction(),
        isPressed: () => context.pressure.level >= PRESSURE.busy,
        dropped: (kind, reason) => this.drops.push(`${kind} ${reason}`),
      },
      {
        get isFull() {
          return observed.isFull;
        },
        take: (batch) => this.#take(structuredClone(batch)),
      },
    );
    engine.port.observe(this.collector);
  }

  /** All spans so far, in the order in which they began; of one that was pending, what became of it. */
  spans(): SpanRecord[] {
    this.collector.flush();
    return [...this.#spans.values()];
  }

  span(name: string): SpanRecord {
    const found = this.spans().filter((span) => span.name === name);
    const [span] = found;
    if (span !== undefined && found.length === 1) return span;
    throw new Error(`Expected one span '${name}', there are ${this.spans().map((one) => one.name)}`);
  }

  attribute(name: string, key: string): string | undefined {
    return this.span(name).attributes.find(([found]) => found === key)?.[1];
  }

  logs(): readonly LogRecord[] {
    this.collector.flush();
    return this.#logs;
  }

  metrics(): readonly MetricRecord[] {
    this.collector.flush();
    return this.#metrics;
  }

  calls(): readonly CallCounts[] {
    this.collector.flush();
    return this.#calls;
  }

  workers(): WorkerCounts {
    this.collector.flush();
    const sum = (key: keyof WorkerCounts): number => this.#workers.reduce((total, counts) => total + counts[key], 0);
    return { spawns: sum('spawns'), deaths: sum('deaths') };
  }

  #take(batch: TelemetryBatch): void {
    this.batches.push(batch);
    const { spans, logs, metrics, calls, workers, dropped } = this.#opener.open(batch);
    for (const span of spans) this.#spans.set(span.trace_id + span.span_id, span);
    this.#logs.push(...logs);
    this.#metrics.push(...metrics);
    this.#calls.push(...calls);
    this.#workers.push(workers);
    for (const { kind, reason, count } of dropped) this.drops.push(`${kind} ${reason} ${count}`);
  }
}
