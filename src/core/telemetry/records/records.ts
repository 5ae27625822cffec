// Observed data in the shapes in which it is stored, listed and exported (modules 11.2, 11.4, 11.6).

import { JSON_DEPTH_MAX } from '../../../protocol/frames/limits.ts';

export type SpanStatus = 'ok' | 'error' | 'unset';

/** Pairs, as in OTLP: an attribute may be repeated, and order is kept. */
export type Attributes = readonly (readonly [key: string, value: string])[];

export interface SpanEvent {
  readonly name: string;
  readonly timestamp_unix_nano: number;
  readonly attributes: Attributes;
}

export interface SpanLink {
  readonly trace_id: string;
  readonly span_id: string;
  readonly trace_state?: string;
  readonly attributes: Attributes;
}

export interface SpanRecord {
  /** 32 and 16 lower-case hex digits. */
  readonly trace_id: string;
  readonly span_id: string;
  /** `null`: a root. */
  readonly parent_span_id: string | null;
  readonly name: string;
  readonly start_time_unix_nano: number;
  /** 0 while `pending`. */
  readonly end_time_unix_nano: number;
  readonly status: SpanStatus;
  readonly status_description?: string;
  readonly attributes: Attributes;
  readonly service_name: string;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
  readonly instrumentation_scope_name?: string;
  readonly instrumentation_scope_version?: string;
  readonly flags?: number;
  readonly trace_state?: string;
  /** Not ended yet. A later record with the same ids replaces this one. */
  readonly pending?: boolean;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type SeverityText = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';

export interface LogRecord {
  readonly timestamp_unix_nano: number;
  readonly observed_timestamp_unix_nano: number;
  /** 1 to 24. */
  readonly severity_number: number;
  readonly severity_text: SeverityText;
  readonly body: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly resource: Readonly<Record<string, string>>;
  readonly service_name: string;
  readonly instrumentation_scope_name?: string;
  readonly instrumentation_scope_version?: string;
  /** Produced by something that a log trigger caused: it fires none (O3). Not listed, not exported. */
  readonly is_quiet?: true;
}

/** The attributes that name the writer of a record. */
export const LOG_WRITER = { function: 'function_id', worker: 'svc.worker', job: 'svc.job.id' } as const;

export type MetricType = 'counter' | 'gauge' | 'histogram' | 'updowncounter';

export interface NumberPoint {
  readonly value: number;
  readonly attributes: Attributes;
  readonly timestamp_unix_nano: number;
  /** The start of the count, where its source reports it. */
  readonly start_time_unix_nano?: number;
}

export interface HistogramPoint {
  readonly count: number;
  readonly sum: number;
  readonly bucket_counts: readonly number[];
  readonly explicit_bounds: readonly number[];
  readonly min?: number;
  readonly max?: number;
  readonly attributes: Attributes;
  readonly timestamp_unix_nano: number;
  readonly start_time_unix_nano?: number;
}

export interface MetricRecord {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly metric_type: MetricType;
  readonly data_points: readonly (NumberPoint | HistogramPoint)[];
  readonly service_name: string;
  readonly timestamp_unix_nano: number;
  readonly instrumentation_scope_name?: string;
  readonly instrumentation_scope_version?: string;
  /** Of counters and histograms: each point covers the time since the previous one, not since the start. Not listed. */
  readonly is_delta?: true;
}

export type TraceStatusWord = 'ok' | 'error' | 'pending';

const PIECE_BYTES = 24;
const CHAR_BYTES = 2;

/**
 * The approximate memory of a record: texts at two bytes a character, everything else by the piece. Limits in bytes are
 * based on it; they protect the process and need not be exact.
 */
export function recordBytes(value: unknown, depth = 0): number {
  if (typeof value === 'string') return PIECE_BYTES + value.length * CHAR_BYTES;
  if (typeof value !== 'object' || value === null || depth > JSON_DEPTH_MAX) return CHAR_BYTES * 4;
  let bytes = PIECE_BYTES;
  if (Array.isArray(value)) {
    for (const item of value) bytes += recordBytes(item, depth + 1);
  } else if (hasFields(value)) {
    // Without a list of entries, which would cost more than the sum.
    for (const key in value) {
      // All records of a kind share their field names; workers choose those of attributes.
      bytes += recordBytes(value[key], depth + 1) + (depth === 0 ? 0 : key.length * CHAR_BYTES);
    }
  }
  return bytes;
}

/** Any object that is not a list. */
function hasFields(value: object): value is Readonly<Record<string, unknown>> {
  return !Array.isArray(value);
}
