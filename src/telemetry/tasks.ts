// What the router's thread and the telemetry thread say to each other. Plain values and bytes only.

import type { DroppedTelemetry, ServiceFacts, SourceGauges, TelemetryBatch } from '../core/telemetry/intake.ts';
import type { SeverityText } from '../core/telemetry/records.ts';
import type { TelemetrySettings } from '../core/telemetry/settings.ts';
import type { ConsoleStyle } from '../effects/logger.ts';
import type { ErrorBody } from '../protocol/frames.ts';
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
  /** Absent: nothing leaves the machine. */
  readonly exporter: ExporterOptions | undefined;
  /** How the engine writes its own lines; absent: records of workers are not shown. */
  readonly console: ConsoleStyle | undefined;
}

export interface WantedLogs {
  /** Those that log triggers wait for. */
  readonly levels: readonly SeverityText[];
  /** Share that is kept of what workers send. */
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
  /** What connections said of their processes. */
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
  /** Why nothing is exported at all. */
  readonly exportTrouble?: string;
  /** Why nothing is kept on the disk. */
  readonly diskTrouble?: string;
}

/** The answer as JSON, or why there is none. */
export type AskAnswer = ArrayBuffer | { readonly error: ErrorBody };

export interface Measured {
  readonly rule: string;
  readonly value: number | undefined;
}

/** What each task is answered with. */
export interface TelemetryAnswers {
  readonly open: null;
  readonly batch: BatchAnswer;
  readonly ask: AskAnswer;
  readonly measure: readonly Measured[];
  readonly tick: Pick<BatchAnswer, 'dropped' | 'stored' | 'exports' | 'exportChanges'>;
  readonly stop: Pick<BatchAnswer, 'dropped'>;
}

/** Bytes of a batch that lie in a buffer of their own: they are handed over, others copied on the way. */
export function wholeBuffersOf({ frames }: TelemetryBatch): ArrayBuffer[] {
  const buffers: ArrayBuffer[] = [];
  for (const { bytes } of frames) {
    const { buffer } = bytes;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length) buffers.push(buffer);
  }
  return buffers;
}
