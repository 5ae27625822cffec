// Settings from the file, then the environment, then defaults (modules 11.1). An invalid variable is a start error,
// like a wrong value in the file: telemetry that is lost silently would be noticed too late.

import {
  ALERT_OPERATORS,
  type AlertAction,
  type AlertOperator,
  type AlertRule,
  OPERATOR_WORDS,
} from '../../core/telemetry/metrics/alert-rules.ts';
import type { PayloadSettings } from '../../core/telemetry/payloads/payload-rules.ts';
import type { ServiceIdentity } from '../../core/telemetry/records/intake.ts';
import {
  type DiskSettings,
  type Exporter,
  isExported,
  type ListedSampling,
  type LogSettings,
  type MetricSettings,
  metricIntervalMs,
  type OtlpSettings,
  otlpOffences,
  otlpTarget,
  type TelemetrySettings,
  type TraceSettings,
} from '../../core/telemetry/records/settings.ts';
import { StartFailure } from '../../effects/start-failure.ts';
import type { ExporterOptions } from '../../telemetry/export/exporter.ts';
import { type AlertConfig, type OtelConfig, RANGES, WITHOUT_ENTRY, WORDS } from './config.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const MIB = 1024 * 1024;
const STORE_BYTES = 64 * MIB;
const COUNT_IN_ENTRY = 1_000;

export function resolveTelemetry(config: OtelConfig, env: Environment, isDropIn = false): TelemetrySettings {
  const read = new Variables(env);
  const isAsked = config !== WITHOUT_ENTRY;
  return {
    resource: {
      serviceName: config.service_name ?? read.text('OTEL_SERVICE_NAME') ?? 'svc',
      serviceVersion: config.service_version ?? read.text('SERVICE_VERSION'),
      serviceNamespace: config.service_namespace ?? read.text('SERVICE_NAMESPACE'),
      serviceInstanceId: config.service_instance_id ?? read.text('SERVICE_INSTANCE_ID'),
    },
    traces: tracesOf(config, read, isAsked),
    sampling: samplingOf(config, read),
    payloads: payloadsOf(config),
    metrics: metricsOf(config, read, isAsked),
    logs: logsOf(config, read, isAsked),
    otlp: otlpOf(config),
    alerts: config.alerts.map(ruleOf),
    prefix: isDropIn ? 'iii' : 'svc',
    disk: diskOf(config),
  };
}

function tracesOf(config: OtelConfig, read: Variables, isAsked: boolean): TraceSettings {
  return {
    enabled: config.enabled ?? read.flag('OTEL_ENABLED') ?? !isAsked,
    exporter: config.exporter ?? read.word('OTEL_EXPORTER_TYPE', WORDS.exporter) ?? (isAsked ? 'otlp' : 'memory'),
    maxCount:
      config.memory_max_spans ??
      read.integer('OTEL_MEMORY_MAX_SPANS', RANGES.count) ??
      countMax(config, isAsked, config.memory_max_bytes),
    maxBytes: config.memory_max_bytes ?? memoryFor(config, 0.75),
    live: config.live_spans ?? true,
  };
}

function samplingOf({ sampling, sampling_ratio: ratio }: OtelConfig, read: Variables): ListedSampling {
  const rules = sampling?.rules ?? [];
  return {
    defaultRatio: sampling?.default ?? ratio ?? read.number('OTEL_TRACES_SAMPLER_ARG', RANGES.ratio) ?? 1,
    rules: rules.map(({ operation, service, rate }) => ({ operation, service, rate })),
    parentBased: sampling?.parent_based ?? true,
    maxTracesPerSecond: sampling?.rate_limit?.max_traces_per_second,
  };
}

function payloadsOf({ payloads = 'off', ...config }: OtelConfig): PayloadSettings {
  const rules = typeof payloads === 'string' ? { '*': payloads } : payloads;
  return {
    rules: Object.entries(rules).map(([functions, mode]) => ({ functions, mode })),
    samplingRatio: config.payload_sampling_ratio,
    maxBytes: config.payload_max_bytes,
    memoryMaxBytes: config.payload_memory_max_bytes,
  };
}

function metricsOf(config: OtelConfig, read: Variables, isAsked: boolean): MetricSettings {
  const seconds =
    config.metrics_retention_seconds ?? read.integer('OTEL_METRICS_RETENTION_SECONDS', RANGES.seconds) ?? 3_600;
  const exporter: Exporter | undefined =
    config.metrics_exporter ?? read.word('OTEL_METRICS_EXPORTER', ['memory', 'otlp']);
  return {
    enabled: config.metrics_enabled ?? read.flag('OTEL_METRICS_ENABLED') ?? !isAsked,
    exporter: exporter ?? 'memory',
    maxCount: config.metrics_max_count ?? read.integer('OTEL_METRICS_MAX_COUNT', RANGES.count) ?? 10_000,
    maxBytes: config.metrics_max_bytes ?? STORE_BYTES,
    retentionMs: seconds * 1_000,
  };
}

function logsOf(config: OtelConfig, read: Variables, isAsked: boolean): LogSettings {
  const interval = config.logs_flush_interval_ms ?? read.integer('OTEL_LOGS_FLUSH_INTERVAL_MS', RANGES.intervalMs);
  return {
    enabled: config.logs_enabled ?? true,
    exporter: config.logs_exporter ?? read.word('OTEL_LOGS_EXPORTER', WORDS.exporter) ?? 'memory',
    maxCount: config.logs_max_count ?? countMax(config, isAsked, config.logs_max_bytes),
    maxBytes: config.logs_max_bytes ?? memoryFor(config, 0.25),
    retentionMs: (config.logs_retention_seconds ?? config.trace_storage?.retention_seconds ?? 3_600) * 1_000,
    samplingRatio: config.logs_sampling_ratio ?? 1,
    consoleOutput: config.logs_console_output ?? true,
    consoleLinesPerSecond: config.logs_console_lines_per_second ?? 200,
    exportBatchSize: config.logs_batch_size ?? read.integer('OTEL_LOGS_BATCH_SIZE', RANGES.batch) ?? 100,
    exportIntervalMs: interval ?? 5_000,
  };
}

/**
 * An entry without these fields has 1 000 of each. Everywhere else bytes are the limit: a thousand spans are the last
 * seconds of a busy engine.
 */
function countMax({ trace_storage: storage }: OtelConfig, isAsked: boolean, bytes: number | undefined): number {
  return isAsked && storage === undefined && bytes === undefined ? COUNT_IN_ENTRY : RANGES.count.max;
}

function memoryFor({ trace_storage: storage }: OtelConfig, share: number): number {
  return storage === undefined ? STORE_BYTES : storage.memory_max_bytes * share;
}

function diskOf({ trace_storage: storage }: OtelConfig): DiskSettings | undefined {
  if (storage === undefined) return undefined;
  const { directory: folder, max_disk_bytes: maxDiskBytes, any_file_system: anyFileSystem } = storage;
  return { folder, maxDiskBytes, anyFileSystem, retentionMs: storage.retention_seconds * 1_000 };
}

function otlpOf({ endpoint, protocol, headers, timeout_ms: timeoutMs }: OtelConfig): OtlpSettings {
  return { endpoint, protocol, headers, timeoutMs };
}

function ruleOf({ window_seconds, cooldown_seconds, operator, action, ...rule }: AlertConfig): AlertRule {
  return {
    ...rule,
    operator: symbolOf(operator),
    windowSeconds: window_seconds,
    cooldownSeconds: cooldown_seconds,
    action: actionOf(action),
  };
}

function symbolOf(operator: AlertConfig['operator']): AlertOperator {
  return isSymbol(operator) ? operator : OPERATOR_WORDS[operator];
}

function isSymbol(operator: AlertConfig['operator']): operator is AlertOperator {
  return (ALERT_OPERATORS as readonly string[]).includes(operator);
}

/** Narrows the type: `contradictions` has refused the file otherwise. */
function actionOf({ type, url, path }: AlertConfig['action']): AlertAction {
  if (type === 'webhook' && url !== undefined) return { type, url };
  if (type === 'function' && path !== undefined) return { type, path };
  return { type: 'log' };
}

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Checks variables like the file's fields: an error names the variable and the expected value. */
class Variables {
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** An empty variable counts as none, as everywhere in OpenTelemetry. */
  text(name: string): string | undefined {
    const value = this.#env[name]?.trim();
    return value === '' ? undefined : value;
  }

  flag(name: string): boolean | undefined {
    const word = this.word(name, ['true', 'false', '1', '0']);
    return word === undefined ? undefined : word === 'true' || word === '1';
  }

  word<W extends string>(name: string, words: readonly W[]): W | undefined {
    const text = this.text(name)?.toLowerCase();
    if (text === undefined) return undefined;
    return words.find((word) => word === text) ?? refuse(name, `one of ${words.join(', ')}`, text);
  }

  number(name: string, { min, max }: Range): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    return value >= min && value <= max ? value : refuse(name, `a number from ${min} to ${max}`, text);
  }

  integer(name: string, range: Range): number | undefined {
    const value = this.number(name, range);
    if (value === undefined || Number.isInteger(value)) return value;
    return refuse(name, `a whole number from ${range.min} to ${range.max}`, String(value));
  }
}

function refuse(name: string, expected: string, found: string): never {
  const shown = found.length > 64 ? `${found.slice(0, 64)}…` : found;
  throw new StartFailure(78, `The environment variable ${name} must be ${expected}, found '${shown}'`);
}

/** Undefined: nothing is exported. */
export function exporterOptions(
  { otlp, traces, logs, metrics }: TelemetrySettings,
  { resource }: ServiceIdentity,
  env: Environment,
): ExporterOptions | undefined {
  const hasTraces = traces.enabled && isExported(traces.exporter);
  const hasLogs = logs.enabled && isExported(logs.exporter);
  const hasMetrics = metrics.enabled && isExported(metrics.exporter);
  if (!hasTraces && !hasLogs && !hasMetrics) return undefined;
  const [offence] = otlpOffences(otlp, env);
  if (offence !== undefined) throw new StartFailure(78, offence);
  return {
    resource,
    ...(hasTraces && { traces: otlpTarget('traces', otlp, env) }),
    ...(hasLogs && {
      logs: { ...otlpTarget('logs', otlp, env), batch: logs.exportBatchSize, intervalMs: logs.exportIntervalMs },
    }),
    ...(hasMetrics && { metrics: { ...otlpTarget('metrics', otlp, env), intervalMs: metricIntervalMs(env) } }),
  };
}
