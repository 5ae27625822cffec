// The messages between the router's thread, the telemetry thread and the rollup thread. Plain values and bytes only.
//
// Metric points pass through the router's thread on their way to the rollup thread: it forwards the bytes unread.

import type { HistogramCounts, RolledPoint } from '../core/telemetry/metrics/metric-store.ts';
import type { WindowPart } from '../core/telemetry/metrics/window-part.ts';
import type { PayloadSettings } from '../core/telemetry/payloads/payload-rules.ts';
import type {
  DroppedTelemetry,
  ServiceIdentity,
  SourceGauges,
  TelemetryBatch,
} from '../core/telemetry/records/intake.ts';
import type { SeverityText } from '../core/telemetry/records/records.ts';
import type { MissingEngine } from '../core/telemetry/records/retention.ts';
import type { TelemetrySettings } from '../core/telemetry/records/settings.ts';
import type { ConsoleStyle } from '../effects/logger.ts';
import type { ErrorBody } from '../protocol/frames/frames.ts';
import type { ExporterOptions, ExportStates } from './export/exporter.ts';
import type { ExportChange } from './export/pipeline.ts';

export type TelemetryTask =
  | { readonly kind: 'open'; readonly options: TelemetryHostOptions }
  | { readonly kind: 'batch'; readonly batch: TelemetryBatch; readonly wanted: WantedLogs }
  | {
      readonly kind: 'ask';
      readonly functionId: string;
      readonly payload: Uint8Array | undefined;
      readonly merging: Merging | undefined;
    }
  | { readonly kind: 'measure'; readonly windows: readonly MetricWindow[] }
  | { readonly kind: 'adopt'; readonly payloads: PayloadSettings }
  | { readonly kind: 'tick' }
  | { readonly kind: 'stop'; readonly withinMs: number };

export interface TelemetryHostOptions {
  readonly settings: TelemetrySettings;
  readonly service: ServiceIdentity;
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

/** Of a question that all engines of a cluster answer together. */
export interface Merging {
  /** Absent: another engine merges. Else the answers of the others as JSON. */
  readonly parts?: readonly AnswerOfEngine[];
  readonly missing?: readonly MissingEngine[];
}

export interface AnswerOfEngine {
  readonly engine: string;
  readonly json: Uint8Array;
}

/** The answer as JSON, or the error. */
export type AskAnswer = ArrayBuffer | { readonly error: ErrorBody };

export interface Measured {
  readonly rule: string;
  /** Absent: nothing was measured. */
  readonly part?: WindowPart;
}

/** What an engine of a cluster measured for the alert rules of another. */
export interface MeasuredAnswer {
  readonly measured: readonly Measured[];
}

/** The answer to each task. */
export interface TelemetryAnswers {
  readonly open: null;
  readonly batch: BatchAnswer;
  readonly ask: AskAnswer;
  readonly measure: readonly Measured[];
  readonly adopt: null;
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

export type RollupTask =
  | { readonly kind: 'add'; readonly points: RollupPoints }
  | {
      readonly kind: 'ask';
      readonly payload: Uint8Array | undefined;
      readonly merging: Merging | undefined;
    };

export interface RollupPoints {
  readonly names: readonly string[];
  /** For each number: the index of its name, its time in Unix milliseconds, its value. */
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly histograms: readonly { readonly name: string; readonly timeMs: number; readonly counts: HistogramCounts }[];
}

/** What was left out of rollups, by reason. */
export type RollupDrops = Readonly<Record<string, number>>;

export interface RollupAnswers {
  readonly add: RollupDrops;
  readonly ask: AskAnswer;
}

export const NUMBER_LENGTH = 3;

/** Undefined: there is none. */
export function packPoints(points: readonly RolledPoint[]): RollupPoints | undefined {
  if (points.length === 0) return undefined;
  const indexes = new Map<string, number>();
  const numbers = new Float64Array(points.length * NUMBER_LENGTH);
  const histograms: RollupPoints['histograms'][number][] = [];
  let used = 0;
  for (const point of points) {
    if (point.kind === 'histogram') {
      const { name, timeMs, counts } = point;
      histograms.push({ name, timeMs, counts });
      continue;
    }
    const index = indexes.get(point.name) ?? indexes.size;
    indexes.set(point.name, index);
    numbers[used++] = index;
    numbers[used++] = point.timeMs;
    numbers[used++] = point.value;
  }
  return { names: [...indexes.keys()], numbers: numbers.slice(0, used), histograms };
}
