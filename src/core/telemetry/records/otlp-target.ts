// The destination of exported telemetry, from the file and the usual environment variables. The file has priority, then
// the variable of the signal, then the variable for all signals, then the default (modules 11.1). The OpenTelemetry
// exporters read the variables for timeout, headers, compression and certificates themselves.

import { redactUrl } from '../../config-fields/redaction.ts';
import type { OtlpSettings } from './settings.ts';

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
