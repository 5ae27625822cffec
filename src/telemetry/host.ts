// The inside of the telemetry thread: takes batches, keeps their records, answers questions. It runs one task at a
// time, in order, so a question sees all batches that were sent before it.

import { listed } from '../core/telemetry/logs/log-list.ts';
import { isOwnLine } from '../core/telemetry/logs/log-record.ts';
import { LogStore } from '../core/telemetry/logs/log-store.ts';
import { QuietTraces } from '../core/telemetry/logs/quiet-traces.ts';
import { CallHistory } from '../core/telemetry/metrics/call-history.ts';
import { EngineCounters } from '../core/telemetry/metrics/engine-counters.ts';
import { EngineMetrics } from '../core/telemetry/metrics/engine-metrics.ts';
import { windowPart } from '../core/telemetry/metrics/metric-list.ts';
import { metricName } from '../core/telemetry/metrics/metric-names.ts';
import { MetricStore, type RolledPoint } from '../core/telemetry/metrics/metric-store.ts';
import type { WindowPart } from '../core/telemetry/metrics/window-part.ts';
import type { PayloadSettings } from '../core/telemetry/payloads/payload-rules.ts';
import { PayloadStore } from '../core/telemetry/payloads/payload-store.ts';
import type { DroppedTelemetry, OpenedBatch, TelemetryBatch } from '../core/telemetry/records/intake.ts';
import { BatchOpener } from '../core/telemetry/records/open-batch.ts';
import { type LogRecord, type MetricRecord, recordBytes } from '../core/telemetry/records/records.ts';
import { isKept, type TelemetrySettings } from '../core/telemetry/records/settings.ts';
import { SpanStore } from '../core/telemetry/spans/span-store.ts';
import type { Clock } from '../effects/clock.ts';
import { answerWith } from './answer.ts';
import type { DiskHistory, DiskLane } from './disk-history.ts';
import { type ExporterOptions, TelemetryExporter } from './export/exporter.ts';
import type { ExportChange } from './export/pipeline.ts';
import type { TelemetryFunction, TelemetryStores } from './functions/definition.ts';
import { logFunctions } from './functions/logs.ts';
import { answerForAll } from './functions/merge.ts';
import { metricFunctions } from './functions/metrics.ts';
import { traceFunctions } from './functions/traces.ts';
import {
  type AskAnswer,
  type BatchAnswer,
  type LogFiring,
  type Measured,
  type Merging,
  type MetricWindow,
  packPoints,
  type StoredCounts,
  type TelemetryAnswers,
  type TelemetryHostOptions,
  type WantedLogs,
} from './tasks.ts';

export interface HostContext {
  readonly clock: Clock;
  /** 32 random hexadecimal digits. */
  token(): string;
  /** A log record of a worker, for the console. */
  show(record: LogRecord): void;
}

const FUNCTIONS: ReadonlyMap<string, TelemetryFunction> = new Map(
  [...traceFunctions, ...logFunctions, ...metricFunctions].map((one) => [one.id, one]),
);

/** How much data kept on the disk a crash may lose. */
const DISK_MS = 1_000;

export class TelemetryHost {
  readonly #context: HostContext;
  #settings: TelemetrySettings;
  readonly #startedMs: number;
  readonly #opener: BatchOpener;
  #exporter: TelemetryExporter | undefined;
  #exporting: Promise<TelemetryExporter | undefined> | undefined;
  #exportTrouble: string | undefined;
  #disk: DiskHistory | undefined;
  #diskTrouble: string | undefined;
  #stopWriting = (): void => {};
  readonly #spans: SpanStore | undefined;
  readonly #payloads: PayloadStore | undefined;
  readonly #logs: LogStore | undefined;
  readonly #metrics: MetricStore | undefined;
  readonly #counters = new EngineCounters();
  readonly #functions = new EngineMetrics();
  readonly #history: CallHistory;
  #drops = new Map<string, DroppedTelemetry>();
  /** May change with each batch. */
  #logsRatio = 1;
  #exportChanges: ExportChange[] = [];

  constructor(options: TelemetryHostOptions, context: HostContext) {
    const { settings, service } = options;
    const quietTraces = new QuietTraces(options.markKey);
    const { traces, logs, metrics } = settings;
    this.#context = context;
    this.#settings = settings;
    const nowMs = (): number => context.clock.nowMs();
    this.#startedMs = nowMs();
    this.#history = new CallHistory(this.#startedMs);
    this.#opener = new BatchOpener({
      ...{ service, nowMs, token: context.token },
      logsRatio: () => this.#logsRatio,
      isQuiet: (traceId) => quietTraces.isMarked(traceId),
    });
    if (traces.enabled && isKept(traces.exporter)) {
      const payloads = new PayloadStore(settings.payloads.memoryMaxBytes, (count) =>
        this.#drop('payloads', 'limit', count),
      );
      this.#spans = new SpanStore(traces, (count) => this.#drop('spans', 'limit', count));
      this.#spans.onLeave = (traceId) => payloads.forget(traceId);
      this.#payloads = payloads;
    }
    // Records older than the configured age were kept as long as intended: that is not a loss.
    if (logs.enabled && isKept(logs.exporter)) {
      this.#logs = new LogStore(logs, {
        onDrop: (reason, count) => reason === 'limit' && this.#drop('logs', reason, count),
        isWorthKeeping: (record) => isWarning(record) || this.#spans?.keeps(record.trace_id ?? '') === true,
      });
    }
    if (metrics.enabled && isKept(metrics.exporter)) {
      this.#metrics = new MetricStore(metrics, (reason, count) => {
        if (reason !== 'retention') this.#drop('metrics', reason, count);
      });
    }
    if (options.exporter !== undefined) this.#startExport(options.exporter);
  }

  /**
   * Its libraries are large: nothing waits for them. Records that arrive meanwhile are exported when they are loaded.
   */
  #startExport(options: ExporterOptions): void {
    const reports = {
      dropped: (kind: DroppedTelemetry['kind'], reason: string, count: number) => this.#drop(kind, reason, count),
      changed: (change: ExportChange) => this.#exportChanges.push(change),
    };
    const context = { clock: this.#context.clock, reports, engineMetrics: () => this.#engineMetrics() };
    this.#exporting = TelemetryExporter.create(options, context).then(
      (exporter) => {
        this.#exporter = exporter;
        return exporter;
      },
      (error: unknown) => {
        this.#exportTrouble = `export cannot start: ${error instanceof Error ? error.message : String(error)}`;
        return undefined;
      },
    );
  }

  #export(act: (exporter: TelemetryExporter) => void): void {
    if (this.#exporter !== undefined) act(this.#exporter);
    else void this.#exporting?.then((exporter) => exporter && act(exporter));
  }

  /** Reads what an earlier run has kept on the disk, as far as it fits into memory, and keeps writing there. */
  async openDisk(): Promise<void> {
    const { disk } = this.#settings;
    if (disk === undefined) return;
    const { clock, token } = this.#context;
    const dropped = (kind: 'spans' | 'logs', reason: string, count: number) => this.#drop(kind, reason, count);
    try {
      // Loaded only now: the store's library is large, and most engines keep nothing here.
      const { DiskHistory } = await import('./disk-history.ts');
      this.#disk = await DiskHistory.open(disk, { nowMs: () => clock.nowMs(), token, dropped });
    } catch (error) {
      this.#diskTrouble = `trace_storage: ${error instanceof Error ? error.message : String(error)}`;
      return;
    }
    const { traces, logs } = this.#settings;
    const [spanStore, logStore] = [this.#spans, this.#logs];
    if (spanStore !== undefined) {
      restore(this.#disk.spans, traces.maxBytes, (span) => spanStore.add(span, span.end_time_unix_nano / 1e6));
    }
    if (logStore !== undefined) restore(this.#disk.logs, logs.maxBytes, (record) => logStore.add(record));
    this.#stopWriting = clock.every(DISK_MS, () => this.#disk?.flush());
  }

  take(batch: TelemetryBatch, wanted: WantedLogs): BatchAnswer {
    this.#logsRatio = wanted.ratio;
    const opened = this.#opener.open(batch);
    for (const { kind, reason, count } of opened.dropped) this.#drop(kind, reason, count);
    const firings = this.#keepLogs(opened, wanted);
    this.#keepSpans(opened);
    for (const pair of batch.payloads) {
      if (this.#spans?.trace(pair.traceId) !== undefined) this.#payloads?.add(pair);
    }
    const points = this.#keepMetrics(opened);
    this.#disk?.add(this.#spans === undefined ? [] : opened.spans, this.#logs === undefined ? [] : opened.logs);
    const nowMs = this.#context.clock.nowMs();
    this.#counters.add(opened.calls, opened.workers, nowMs);
    this.#functions.add(opened.calls, opened.workers);
    this.#history.add(opened, nowMs);
    return { ...this.tick(), firings, points: packPoints(points), gauges: opened.gauges };
  }

  /** The rules for payloads have changed. */
  adopt(payloads: PayloadSettings): null {
    this.#settings = { ...this.#settings, payloads };
    this.#payloads?.adopt(payloads.memoryMaxBytes);
    return null;
  }

  /** Time has passed: records that are too old leave, also while none arrive. */
  tick(): TelemetryAnswers['tick'] {
    this.#expire();
    return {
      dropped: this.#takeDrops(),
      stored: this.#stored(),
      exports: this.#exporter?.states() ?? {},
      exportChanges: this.#takeExportChanges(),
    };
  }

  /** Records that an answer would include are left for the next tick: a question releases nothing else. */
  #expire(): void {
    const nowMs = this.#context.clock.nowMs();
    this.#logs?.expire(nowMs);
    this.#metrics?.expire(nowMs);
    this.#history.expire(nowMs);
  }

  #takeExportChanges(): ExportChange[] {
    const taken = this.#exportChanges;
    this.#exportChanges = [];
    return taken;
  }

  ask(functionId: string, payload: Uint8Array | undefined, merging: Merging | undefined): AskAnswer {
    const found = FUNCTIONS.get(functionId);
    if (found === undefined) throw new Error(`The telemetry thread has no function ${functionId}`);
    this.#expire();
    const stores = { ...this.#stores(), isPart: merging !== undefined };
    const run = (given: unknown) => found.run(given, stores);
    return answerWith(functionId, payload, (given) =>
      merging?.parts === undefined ? run(given) : answerForAll(functionId, given, run, merging.parts, merging.missing),
    );
  }

  measure(windows: readonly MetricWindow[]): Measured[] {
    const nowMs = this.#context.clock.nowMs();
    return windows.map(({ rule, metric, windowSeconds }) => {
      const startMs = nowMs - windowSeconds * 1_000;
      const part = this.#windowPart(metric, startMs, nowMs);
      return { rule, ...(part !== undefined && { part }) };
    });
  }

  #windowPart(metric: string, startMs: number, nowMs: number): WindowPart | undefined {
    const own = this.#counters.windowPart(metric, startMs);
    return own ?? (this.#metrics && windowPart(this.#metrics, metric, startMs, nowMs));
  }

  async stop(withinMs: number): Promise<TelemetryAnswers['stop']> {
    const exporter = await this.#exporting;
    await exporter?.stop(withinMs);
    this.#stopWriting();
    this.#disk?.close();
    this.#disk = undefined;
    return { dropped: this.#takeDrops() };
  }

  #stores(): TelemetryStores {
    return {
      nowMs: this.#context.clock.nowMs(),
      startedMs: this.#startedMs,
      settings: this.#settings,
      isPart: false,
      spans: this.#spans,
      payloads: this.#payloads,
      logs: this.#logs,
      disk: this.#disk,
      metrics: this.#metrics,
      counters: this.#counters,
      functions: this.#functions,
      history: this.#history,
      engineMetrics: () => this.#engineMetrics(),
    };
  }

  #engineMetrics(): MetricRecord[] {
    const gauges = { workersActive: this.#counters.workers.active };
    const { resource, prefix } = this.#settings;
    return this.#functions.records(gauges, resource.serviceName, this.#context.clock.nowMs() * 1e6, prefix);
  }

  #keepSpans({ spans }: OpenedBatch): void {
    const { traces } = this.#settings;
    if (!traces.enabled) return;
    const nowMs = this.#context.clock.nowMs();
    for (const span of spans) if (traces.live || span.pending !== true) this.#spans?.add(span, nowMs);
    this.#export((exporter) => exporter.addSpans(spans));
  }

  #keepLogs({ logs }: OpenedBatch, { levels }: WantedLogs): LogFiring[] {
    if (!this.#settings.logs.enabled) return [];
    const firings: LogFiring[] = [];
    for (const record of logs) {
      const stored = this.#logs?.add(record);
      if (this.#settings.logs.consoleOutput && !isOwnLine(record)) this.#context.show(record);
      if (record.is_quiet === true || !levels.includes(record.severity_text)) continue;
      const { is_quiet: _mark, ...entry } = record;
      const shown = stored === undefined ? entry : listed(stored);
      firings.push({ level: record.severity_text, json: new TextEncoder().encode(JSON.stringify(shown)) });
    }
    this.#export((exporter) => exporter.addLogs(logs));
    return firings;
  }

  #keepMetrics(opened: OpenedBatch): RolledPoint[] {
    if (!this.#settings.metrics.enabled) return [];
    const { prefix } = this.#settings;
    const metrics = opened.metrics.map((metric) => ({ ...metric, name: metricName(metric.name, prefix) }));
    this.#export((exporter) => exporter.addMetrics(metrics));
    return metrics.flatMap((metric) => this.#metrics?.add(metric) ?? []);
  }

  #stored(): StoredCounts {
    return {
      spans: this.#spans?.count ?? 0,
      logs: this.#logs?.count ?? 0,
      metrics: this.#metrics?.count ?? 0,
      ...(this.#exportTrouble !== undefined && { exportTrouble: this.#exportTrouble }),
      ...(this.#diskTrouble !== undefined && { diskTrouble: this.#diskTrouble }),
    };
  }

  #drop(kind: DroppedTelemetry['kind'], reason: string, count: number): void {
    const key = `${kind} ${reason}`;
    this.#drops.set(key, { kind, reason, count: (this.#drops.get(key)?.count ?? 0) + count });
  }

  #takeDrops(): DroppedTelemetry[] {
    const taken = [...this.#drops.values()];
    this.#drops.clear();
    return taken;
  }
}

/** Only as many as fit: the oldest would leave again at once, and be counted as lost. */
function restore<T>(lane: DiskLane<T>, bytesMax: number, add: (record: T) => void): void {
  const kept: (readonly T[])[] = [];
  let bytes = 0;
  for (const block of lane.newestFirst()) {
    for (const record of block) bytes += recordBytes(record);
    if (bytes > bytesMax) break;
    kept.push(block);
  }
  for (const block of kept.reverse()) for (const record of block) add(record);
}

function isWarning({ severity_number: severity }: LogRecord): boolean {
  return severity >= WARN;
}

const WARN = 13;
