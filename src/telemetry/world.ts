// The data that a function of the telemetry thread may read.

import type { LogStore } from '../core/telemetry/logs/log-store.ts';
import type { EngineCounters } from '../core/telemetry/metrics/engine-counters.ts';
import type { EngineMetrics } from '../core/telemetry/metrics/engine-metrics.ts';
import type { MetricStore } from '../core/telemetry/metrics/metric-store.ts';
import type { MetricRecord } from '../core/telemetry/records/records.ts';
import type { SpanStore } from '../core/telemetry/spans/span-store.ts';
import type { DESCRIPTIONS } from './descriptions.ts';
import type { DiskHistory } from './disk-history.ts';

export type FunctionId = keyof typeof DESCRIPTIONS;

/** A store that is undefined is not kept: its records are exported only, or dropped. */
export interface TelemetryWorld {
  readonly nowMs: number;
  readonly spans: SpanStore | undefined;
  readonly logs: LogStore | undefined;
  /** Set where spans and logs are kept on the disk too. */
  readonly disk: DiskHistory | undefined;
  readonly metrics: MetricStore | undefined;
  readonly counters: EngineCounters;
  readonly functions: EngineMetrics;
  /** The current counts of both, in the shape of metrics of workers. */
  readonly engineMetrics: () => readonly MetricRecord[];
}

export interface TelemetryFunction {
  /** Of `descriptions.ts`. */
  readonly id: FunctionId;
  run(payload: unknown, world: TelemetryWorld): unknown;
}
