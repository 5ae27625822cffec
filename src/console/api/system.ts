// The engine as a whole: `GET /status`, `/config` and `/config/schema`.

import type { ClusterStatus } from '../../core/cluster/status.ts';

export type HealthWord = 'healthy' | 'degraded' | 'unhealthy' | 'disabled';

export interface ModuleRow {
  name: string;
  status: HealthWord;
  adapter: string | null;
  details: unknown;
}

/** A module that is not loaded and can be listed in the configuration (EMP-2). */
export interface AbsentModule {
  name: string;
  snippet: string;
}

export interface PortRow {
  /** `workers`, `http`, `streams`. */
  name: string;
  /** With scheme: `ws://127.0.0.1:49134`. */
  address: string;
}

export interface TelemetryFlags {
  /** Whether the observability module is loaded. */
  enabled: boolean;
  /** Whether traces can be listed: the exporter is `memory` or `both`. */
  traces: boolean;
  logs: boolean;
  metrics: boolean;
  exporter: string | null;
  service_name: string | null;
  /** Spans, logs or points that were dropped since the start. */
  dropped: number;
}

export interface Counts {
  functions: number;
  triggers: number;
  workers: number;
  /** Workers that have functions and take calls. */
  workers_active: number;
  streams: number | null;
  queues: number | null;
  dead_letters: number | null;
  triggers_in_error: number;
}

export interface Status {
  version: string;
  started_at: number;
  uptime_ms: number;
  /** `healthy`, or the state of the worst component. */
  status: HealthWord;
  draining: boolean;
  transport: string;
  node_version: string;
  ports: PortRow[];
  modules: ModuleRow[];
  absent_modules: AbsentModule[];
  telemetry: TelemetryFlags;
  /** 0: no overload. Above it the engine sheds load; `overload_reasons` says why. */
  overload_level: number;
  overload_reasons: string[];
  counts: Counts;
  /** The engines that act as one with this one; null: it is alone. */
  cluster: ClusterStatus | null;
  timestamp: number;
}

export type ConfigSource = 'default' | 'file' | 'environment';

export interface ConfigValue {
  /** `limits.engine.in_flight`, `workers.svc-http.port`. */
  path: string;
  /** Secrets are redacted. */
  value: unknown;
  source: ConfigSource;
}

export interface Config {
  /** The effective configuration as YAML, redacted. */
  yaml: string;
  /** The same as a value. */
  effective: unknown;
  values: ConfigValue[];
  file: string | null;
  warnings: string[];
  /** `null`: not reloaded since the start. */
  last_reload: { at: number; ok: boolean; message: string } | null;
}

export interface ConfigField {
  path: string;
  expected: string;
  help: string | null;
  required: boolean;
  default?: unknown;
}

export interface ConfigSchema {
  top_level: ConfigField[];
  modules: { name: string; fields: ConfigField[] }[];
}
