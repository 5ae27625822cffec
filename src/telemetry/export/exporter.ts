// Everything that is exported to a collector: one pipeline for each exported signal (O2). It lives on the telemetry
// thread; adding to it never waits and never throws.

import type { ExportQueueLimits } from '../../core/telemetry/records/export-queue.ts';
import {
  type LogRecord,
  type MetricRecord,
  recordBytes,
  type SpanRecord,
} from '../../core/telemetry/records/records.ts';
import type { OtlpTarget } from '../../core/telemetry/records/settings.ts';
import type { Clock } from '../../effects/clock.ts';
import { type Destination, type ExportReports, type ExportState, Pipeline, type Signal } from './pipeline.ts';

/** A signal that is left out is not exported. */
export interface ExporterOptions {
  readonly traces?: OtlpTarget;
  readonly logs?: OtlpTarget & { readonly batch: number; readonly intervalMs: number };
  readonly metrics?: OtlpTarget & { readonly intervalMs: number };
  /** `service.namespace`, `service.version`, `deployment.environment` where they are known. */
  readonly resource: Readonly<Record<string, string>>;
}

export interface ExporterContext {
  readonly clock: Pick<Clock, 'after' | 'every' | 'monotonicMs'>;
  readonly reports: ExportReports;
  /** The engine's own counts as they are now; taken once for each export of metrics. */
  engineMetrics(): readonly MetricRecord[];
}

export type ExportStates = Readonly<Partial<Record<Signal, ExportState & { readonly waiting: number }>>>;

const MIB = 1024 * 1024;
const BATCH = 512;
const SPANS_INTERVAL_MS = 1_000;
/** Workers choose when they measure: their metrics are sent on soon. */
const METRICS_WAIT_MS = 1_000;
const SPAN_LIMITS: ExportQueueLimits = { items: 2_048, bytes: 64 * MIB, batch: BATCH };
const LOG_LIMITS: ExportQueueLimits = { items: 4_096, bytes: 64 * MIB, batch: BATCH };
const METRIC_LIMITS: ExportQueueLimits = { items: 4_096, bytes: 64 * MIB, batch: 4_096 };

export class TelemetryExporter {
  readonly #spans: Pipeline<SpanRecord> | undefined;
  readonly #logs: Pipeline<LogRecord> | undefined;
  readonly #metrics: Pipeline<MetricRecord> | undefined;
  readonly #context: ExporterContext;
  #stopCounting = () => {};

  private constructor(
    spans: Pipeline<SpanRecord> | undefined,
    logs: Pipeline<LogRecord> | undefined,
    metrics: Pipeline<MetricRecord> | undefined,
    context: ExporterContext,
  ) {
    this.#spans = spans;
    this.#logs = logs;
    this.#metrics = metrics;
    this.#context = context;
  }

  /** Loads the libraries that the targets need; rejects when that fails. No collector is contacted yet. */
  static async create(options: ExporterOptions, context: ExporterContext): Promise<TelemetryExporter> {
    const { traces, logs, metrics, resource } = options;
    const { clock, reports } = context;
    const otlp = await import('./otlp.ts');
    const pipeline = <Item>(
      signal: Signal,
      limits: ExportQueueLimits,
      intervalMs: number,
      destination: Destination<Item>,
    ) => new Pipeline({ signal, limits, intervalMs, destination, clock, reports });
    const exporter = new TelemetryExporter(
      traces && pipeline('spans', SPAN_LIMITS, SPANS_INTERVAL_MS, await otlp.spanDestination(traces, resource)),
      logs &&
        pipeline(
          'logs',
          { ...LOG_LIMITS, batch: Math.min(BATCH, logs.batch) },
          logs.intervalMs,
          await otlp.logDestination(logs, resource),
        ),
      metrics && pipeline('metrics', METRIC_LIMITS, METRICS_WAIT_MS, await otlp.metricDestination(metrics, resource)),
      context,
    );
    if (metrics !== undefined) exporter.#countEvery(metrics.intervalMs);
    return exporter;
  }

  /** Spans that have not ended are not exported: a collector cannot replace them later. */
  addSpans(records: readonly SpanRecord[]): void {
    if (this.#spans === undefined) return;
    for (const record of records) {
      if (record.pending !== true) this.#spans.add(record, recordBytes(record));
    }
  }

  addLogs(records: readonly LogRecord[]): void {
    if (this.#logs === undefined) return;
    for (const record of records) this.#logs.add(record, recordBytes(record));
  }

  addMetrics(records: readonly MetricRecord[]): void {
    if (this.#metrics === undefined) return;
    for (const record of records) this.#metrics.add(record, recordBytes(record));
  }

  /** The state for health; `degraded` when any pipeline is not `working`. */
  states(): ExportStates {
    const state = (pipeline: Pick<Pipeline<unknown>, 'state' | 'waiting'> | undefined) =>
      pipeline === undefined ? undefined : { ...pipeline.state, waiting: pipeline.waiting };
    const all = { spans: state(this.#spans), logs: state(this.#logs), metrics: state(this.#metrics) };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  }

  #countEvery(intervalMs: number): void {
    const stopTimer = this.#context.clock.every(intervalMs, () => this.addMetrics(this.#context.engineMetrics()));
    this.#stopCounting = stopTimer;
  }

  /** Flushes for up to `withinMs` (O2: 2 s); what is left is counted as dropped. */
  async stop(withinMs: number): Promise<void> {
    this.#stopCounting();
    this.addMetrics(this.#context.engineMetrics());
    await Promise.all([this.#spans, this.#logs, this.#metrics].map((pipeline) => pipeline?.stop(withinMs)));
  }
}
