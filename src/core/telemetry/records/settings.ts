// The settings of observability, after file, environment and defaults were combined (modules 11.1). Collection, stores
// and export all read this one object.

import { redactUrl } from '../../config-fields/redaction.ts';
import type { AlertRule } from '../metrics/alert-rules.ts';
import type { EmittedPrefix } from '../metrics/metric-names.ts';
import type { PayloadSettings } from '../payloads/payload-rules.ts';

export type Exporter = 'memory' | 'otlp' | 'both';

export interface ListedSamplingRule {
  /** Patterns of `core/access/pattern.ts`; absent: matches all. If both are given, both must match. */
  readonly operation: string | undefined;
  readonly service: string | undefined;
  /** 0 to 1. */
  readonly rate: number;
}

/** For `engine::sampling::rules`; `sampling.ts` has the rules in compiled form. */
export interface ListedSampling {
  /** For what no rule matches, 0 to 1. */
  readonly defaultRatio: number;
  /** The first that matches decides. */
  readonly rules: readonly ListedSamplingRule[];
  /** Whether the caller's decision is adopted. */
  readonly parentBased: boolean;
  readonly maxTracesPerSecond: number | undefined;
}

export interface TraceSettings {
  /** False: no spans at all. */
  readonly enabled: boolean;
  readonly exporter: Exporter;
  readonly maxCount: number;
  readonly maxBytes: number;
  /** Whether spans are listed before they have ended. */
  readonly live: boolean;
}

export interface MetricSettings {
  readonly enabled: boolean;
  readonly exporter: Exporter;
  readonly maxCount: number;
  readonly maxBytes: number;
  readonly retentionMs: number;
}

export interface LogSettings {
  readonly enabled: boolean;
  readonly exporter: Exporter;
  readonly maxCount: number;
  readonly maxBytes: number;
  readonly retentionMs: number;
  readonly samplingRatio: number;
  readonly consoleOutput: boolean;
  /** Of one service; the store and log triggers get all. */
  readonly consoleLinesPerSecond: number;
  readonly exportBatchSize: number;
  readonly exportIntervalMs: number;
}

/** From the file. `otlp-target.ts` reads absent ones from the environment, for each signal. */
export interface OtlpSettings {
  readonly endpoint: string | undefined;
  readonly protocol: 'grpc' | 'http/protobuf' | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number | undefined;
}

export interface ResourceSettings {
  readonly serviceName: string;
  readonly serviceVersion: string | undefined;
  readonly serviceNamespace: string | undefined;
  readonly serviceInstanceId: string | undefined;
}

/** Ended spans and logs are kept on the disk as well. */
export interface DiskSettings {
  readonly folder: string;
  readonly maxDiskBytes: number;
  readonly retentionMs: number;
  readonly anyFileSystem: boolean;
}

export interface TelemetrySettings {
  readonly resource: ResourceSettings;
  readonly traces: TraceSettings;
  readonly sampling: ListedSampling;
  readonly payloads: PayloadSettings;
  readonly metrics: MetricSettings;
  readonly logs: LogSettings;
  readonly otlp: OtlpSettings;
  readonly alerts: readonly AlertRule[];
  /** What the names that the engine emits begin with. */
  readonly prefix: EmittedPrefix;
  /** Absent: observed data is in memory only. */
  readonly disk: DiskSettings | undefined;
}

/** Whether observed data is kept where the functions of the engine can list it. */
export function isKept(exporter: Exporter): boolean {
  return exporter !== 'otlp';
}

/** Whether it is sent to a collector. */
export function isExported(exporter: Exporter): boolean {
  return exporter !== 'memory';
}

/**
 * The destination of exported telemetry. The file has priority, then the variable of the signal, then the variable for
 * all signals, then the default (modules 11.1). The OpenTelemetry exporters read the variables for timeout, headers,
 * compression and certificates themselves.
 */
export type OtlpProtocol = 'grpc' | 'http/protobuf';
export type OtlpSignal = 'traces' | 'metrics' | 'logs';

export interface OtlpTarget {
  readonly protocol: OtlpProtocol;
  /** With the path of the signal for HTTP; a bare address for gRPC. */
  readonly url: string;
  /** From the file; they replace those of the environment. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Every problem of addresses and variables, each in a sentence; none: the targets are valid. */
export function otlpOffences(settings: OtlpSettings, env: Environment): string[] {
  const texts = SIGNALS.flatMap((signal) => [
    settings.protocol === undefined ? protocolOffence(signal, env) : undefined,
    urlOffence(signal, settings, env),
  ]);
  return [...new Set([...texts, intervalOffence(env)].filter((text) => text !== undefined))];
}

export function otlpTarget(signal: OtlpSignal, settings: OtlpSettings, env: Environment): OtlpTarget {
  const { endpoint, headers, timeoutMs } = settings;
  const given = settings.protocol ?? variable(env, signal, 'PROTOCOL').value;
  const protocol = PROTOCOLS.find((known) => known === given) ?? 'grpc';
  const own = endpoint === undefined ? textOf(env, `${PREFIX}${signal.toUpperCase()}_ENDPOINT`) : undefined;
  // The variable of one signal is its whole address; the others hold the common base of all signals.
  if (own !== undefined) return { protocol, url: own, headers, timeoutMs };
  const shared = endpoint ?? textOf(env, `${PREFIX}ENDPOINT`) ?? DEFAULT_ENDPOINTS[protocol];
  const url = protocol === 'grpc' ? shared : `${shared.replace(/\/+$/, '')}/v1/${signal}`;
  return { protocol, url, headers, timeoutMs };
}

/** How often metrics are sent. */
export function metricIntervalMs(env: Environment): number {
  return Number(textOf(env, METRIC_INTERVAL) ?? METRIC_INTERVAL_MS);
}

const SIGNALS = ['traces', 'metrics', 'logs'] as const;
const PROTOCOLS = ['grpc', 'http/protobuf'] as const;
const PREFIX = 'OTEL_EXPORTER_OTLP_';
const METRIC_INTERVAL = 'OTEL_METRIC_EXPORT_INTERVAL';
const METRIC_INTERVAL_MS = 60_000;
const METRIC_INTERVAL_MS_MAX = 3_600_000;

/** The default address of a collector. */
const DEFAULT_ENDPOINTS: Readonly<Record<OtlpProtocol, string>> = {
  grpc: 'http://localhost:4317',
  'http/protobuf': 'http://localhost:4318',
};

/** A variable that is set but empty counts as absent. */
function textOf(env: Environment, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

function variable(env: Environment, signal: OtlpSignal, name: string): { name: string; value: string | undefined } {
  const own = `${PREFIX}${signal.toUpperCase()}_${name}`;
  const value = textOf(env, own);
  if (value !== undefined) return { name: own, value };
  return { name: `${PREFIX}${name}`, value: textOf(env, `${PREFIX}${name}`) };
}

function protocolOffence(signal: OtlpSignal, env: Environment): string | undefined {
  const { name, value } = variable(env, signal, 'PROTOCOL');
  if (value === undefined || PROTOCOLS.some((known) => known === value)) return undefined;
  return `${name} is '${value}': expected one of ${PROTOCOLS.join(', ')}`;
}

function urlOffence(signal: OtlpSignal, settings: OtlpSettings, env: Environment): string | undefined {
  const { url } = otlpTarget(signal, settings, env);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return undefined;
  return `The OTLP endpoint for ${signal} is '${redactUrl(url)}': expected http://host:port or https://host:port`;
}

function intervalOffence(env: Environment): string | undefined {
  const text = textOf(env, METRIC_INTERVAL);
  if (text === undefined) return undefined;
  const isGood = /^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= METRIC_INTERVAL_MS_MAX;
  return isGood ? undefined : `${METRIC_INTERVAL} is '${text}': expected 1 to ${METRIC_INTERVAL_MS_MAX} milliseconds`;
}
