// What a function of the telemetry thread may look at.

import type { EngineCounters } from '../core/telemetry/engine-counters.ts';
import type { EngineMetrics } from '../core/telemetry/engine-metrics.ts';
import type { LogStore } from '../core/telemetry/log-store.ts';
import type { MetricStore } from '../core/telemetry/metric-store.ts';
import type { MetricRecord } from '../core/telemetry/records.ts';
import type { SpanStore } from '../core/telemetry/span-store.ts';
import type { DESCRIPTIONS } from './descriptions.ts';
import type { DiskHistory } from './disk-history.ts';

export type FunctionId = keyof typeof DESCRIPTIONS;

/** A store that is undefined is not kept: what is observed goes elsewhere, or nowhere. */
export interface TelemetryWorld {
  readonly nowMs: number;
  readonly spans: SpanStore | undefined;
  readonly logs: LogStore | undefined;
  /** Where spans and logs lie on the disk too. */
  readonly disk: DiskHistory | undefined;
  readonly metrics: MetricStore | undefined;
  readonly counters: EngineCounters;
  readonly functions: EngineMetrics;
  /** The counts of both as they stand now, in the shape of metrics of workers. */
  readonly engineMetrics: () => readonly MetricRecord[];
}

export interface TelemetryFunction {
  /** Of `descriptions.ts`. */
  readonly id: FunctionId;
  run(payload: unknown, world: TelemetryWorld): unknown;
}
