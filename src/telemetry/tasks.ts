// The messages between the router's thread and the telemetry thread. Plain values and bytes only.

import type { DroppedTelemetry, ServiceFacts, SourceGauges, TelemetryBatch } from '../core/telemetry/records/intake.ts';
import type { SeverityText } from '../core/telemetry/records/records.ts';
import type { TelemetrySettings } from '../core/telemetry/records/settings.ts';
import type { ConsoleStyle } from '../effects/logger.ts';
import type { ErrorBody } from '../protocol/frames/frames.ts';
import type { ExporterOptions, ExportStates } from './export/exporter.ts';
import type { ExportChange } from './export/pipeline.ts';
import type { RollupPoints } from './rollup-tasks.ts';

export type TelemetryTask =
  | { readonly kind: 'open'; readonly options: TelemetryHostOptions }
  | { readonly kind: 'batch'; readonly batch: TelemetryBatch; readonly wanted: WantedLogs }
  | { readonly kind: 'ask'; readonly functionId: string; readonly payload: Uint8Array | undefined }
  | { readonly kind: 'measure'; readonly windows: readonly MetricWindow[] }
  | { readonly kind: 'tick' }
  | { readonly kind: 'stop'; readonly withinMs: number };

export interface TelemetryHostOptions {
  readonly settings: TelemetrySettings;
  readonly facts: ServiceFacts;
  /** Absent: nothing is exported. */
  readonly exporter: ExporterOptions | undefined;
  /** The style of the engine's own lines; absent: records of workers are not shown. */
  readonly console: ConsoleStyle | undefined;
  /** Identifies what log triggers caused. */
  readonly markKey: string;
}

export interface WantedLogs {
  /** The records that log triggers wait for. */
  readonly levels: readonly SeverityText[];
  /** The share of the workers' spans that is kept. */
  readonly ratio: number;
}

export interface MetricWindow {
  /** Of the alert rule that asks. */
  readonly rule: string;
  readonly metric: string;
  readonly windowSeconds: number;
}

export interface BatchAnswer {
  readonly dropped: readonly DroppedTelemetry[];
  /** Records that log triggers wait for, as JSON. */
  readonly firings: readonly LogFiring[];
  /** Absent: nothing to roll up. */
  readonly points: RollupPoints | undefined;
  /** What connections reported about their processes. */
  readonly gauges: readonly SourceGauges[];
  readonly stored: StoredCounts;
  readonly exports: ExportStates;
  /** Since the last answer. */
  readonly exportChanges: readonly ExportChange[];
}

export interface LogFiring {
  readonly level: SeverityText;
  readonly json: Uint8Array;
}

/** For health. */
export interface StoredCounts {
  readonly spans: number;
  readonly logs: number;
  readonly metrics: number;
  /** Why nothing is exported. */
  readonly exportTrouble?: string;
  /** Why nothing is kept on the disk. */
  readonly diskTrouble?: string;
}

/** The answer as JSON, or the error. */
export type AskAnswer = ArrayBuffer | { readonly error: ErrorBody };

export interface Measured {
  readonly rule: string;
  readonly value: number | undefined;
}

/** The answer to each task. */
export interface TelemetryAnswers {
  readonly open: null;
  readonly batch: BatchAnswer;
  readonly ask: AskAnswer;
  readonly measure: readonly Measured[];
  readonly tick: Pick<BatchAnswer, 'dropped' | 'stored' | 'exports' | 'exportChanges'>;
  readonly stop: Pick<BatchAnswer, 'dropped'>;
}

/** Bytes of a batch that own their buffer are transferred; others are copied. */
export function wholeBuffersOf({ frames }: TelemetryBatch): ArrayBuffer[] {
  const buffers: ArrayBuffer[] = [];
  for (const { bytes } of frames) {
    const { buffer } = bytes;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length) buffers.push(buffer);
  }
  return buffers;
}
