// The settings of observability, after file, environment and defaults were combined (modules 11.1). Collection, stores
// and export all read this one object.

import type { AlertRule } from '../metrics/alert-rules.ts';

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
  readonly metrics: MetricSettings;
  readonly logs: LogSettings;
  readonly otlp: OtlpSettings;
  readonly alerts: readonly AlertRule[];
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
