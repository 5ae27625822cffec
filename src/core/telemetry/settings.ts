// What observability goes by, after file, environment and defaults have been put together (modules 11.1). Collection,
// stores and export all read this one object.

import type { AlertRule } from './alert-rules.ts';

export type Exporter = 'memory' | 'otlp' | 'both';

export interface ListedSamplingRule {
  /** Patterns of `core/pattern.ts`; absent: every one. Both that are given must match. */
  readonly operation: string | undefined;
  readonly service: string | undefined;
  /** 0 to 1. */
  readonly rate: number;
}

/** As `engine::sampling::rules` shows it; `sampling.ts` has the rules made ready to match. */
export interface ListedSampling {
  /** For what no rule matches, 0 to 1. */
  readonly defaultRatio: number;
  /** The first that matches decides. */
  readonly rules: readonly ListedSamplingRule[];
  /** Whether the caller's decision is taken over. */
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
  readonly exportBatchSize: number;
  readonly exportIntervalMs: number;
}

/** As the file has it. What is absent there is looked up in the environment by `otlp-target.ts`, for each signal. */
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
  /** Absent: what is observed lives in memory alone. */
  readonly disk: DiskSettings | undefined;
}

/** Whether what is observed is kept where the functions of the engine can list it. */
export function isKept(exporter: Exporter): boolean {
  return exporter !== 'otlp';
}

/** Whether it is sent to a collector. */
export function isExported(exporter: Exporter): boolean {
  return exporter !== 'memory';
}
