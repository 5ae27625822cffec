// The payloads of the functions of the telemetry threads, and the check of their numbers.
// `src/validators/telemetry-payloads.ts` compiles the shapes; null counts as absent, because clients of other languages
// send it.

import { Refusal } from '../../core/calls/refusal.ts';

export interface TracesListPayload {
  trace_id?: string | null;
  trace_ids?: string[] | null;
  service_name?: string | null;
  name?: string | null;
  status?: string | null;
  min_duration_ms?: number | null;
  max_duration_ms?: number | null;
  start_time?: number | null;
  end_time?: number | null;
  sort_by?: 'duration' | 'duration_ms' | 'start_time' | 'name' | 'service_name' | null;
  sort_order?: 'asc' | 'desc' | null;
  attributes?: [string, string][] | null;
  exclude_attributes?: [string, string][] | null;
  search_all_spans?: boolean | null;
  include_internal?: boolean | null;
  offset?: number | null;
  limit?: number | null;
}

export interface TracesTreePayload {
  trace_id: string;
  /** Levels below the roots. */
  max_depth?: number | null;
  /** Only spans below this one. */
  parent?: string | null;
}

export interface TracesSpanPayload {
  trace_id: string;
  span_id: string;
}

export interface TracesPayloadsPayload {
  trace_id: string;
  /** The engine's span of the call, or the worker's below it. */
  span_id: string;
}

export interface TracesEdgesPayload {
  start_time?: number | null;
  end_time?: number | null;
}

export interface TracesGroupByPayload {
  attribute: string;
  since_ms?: number | null;
  limit?: number | null;
  include_internal?: boolean | null;
  label_attribute?: string | null;
  parts?: number | null;
}

export interface TracesRunsPayload {
  function_id: string;
  status?: 'ok' | 'error' | 'pending' | null;
  start_time?: number | null;
  end_time?: number | null;
  offset?: number | null;
  limit?: number | null;
}

export interface TracesFacetsPayload {
  key?: string | null;
  search?: string | null;
  limit?: number | null;
  values_limit?: number | null;
}

export interface LogsListPayload {
  start_time?: number | null;
  end_time?: number | null;
  trace_id?: string | null;
  span_id?: string | null;
  severity_min?: number | null;
  severity_text?: string | null;
  offset?: number | null;
  limit?: number | null;
}

export interface LogsFilterPayload {
  query?: string | null;
  start_time?: number | null;
  end_time?: number | null;
  trace_id?: string | null;
  span_id?: string | null;
  severity_min?: number | null;
  severities?: string[] | null;
  services?: string[] | null;
}

export interface LogsSearchPayload extends LogsFilterPayload {
  order?: 'asc' | 'desc' | null;
  offset?: number | null;
  limit?: number | null;
}

export interface LogsHistogramPayload extends LogsFilterPayload {
  buckets?: number | null;
}

export interface LogsContextPayload {
  log_id: number;
  /** The engine of the cluster that has the record; absent: the one that is asked. */
  engine?: string | null;
  before?: number | null;
  after?: number | null;
}

export interface MetricsListPayload {
  start_time?: number | null;
  end_time?: number | null;
  metric_name?: string | null;
  /** Seconds. */
  aggregate_interval?: number | null;
}

export interface MetricsCallsPayload {
  start_time?: number | null;
  end_time?: number | null;
  function_id?: string | null;
  /** False: the total only. */
  by_function?: boolean | null;
  /** About how many equal parts; 0: none. */
  points?: number | null;
  /** Also what each function called. */
  edges?: boolean | null;
}

export interface MetricsJobsPayload {
  start_time?: number | null;
  end_time?: number | null;
  queue?: string | null;
  /** About how many equal parts; 0: none. */
  points?: number | null;
}

export interface RollupsListPayload {
  start_time?: number | null;
  end_time?: number | null;
  level?: number | null;
  metric_name?: string | null;
}

export interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly isWhole?: boolean;
}

/** Unix milliseconds up to the year 3000: the limit catches nanoseconds given by mistake. */
export const TIME: NumberRange = { min: 0, max: 32_503_680_000_000 };
const COUNT: NumberRange = { min: 0, max: 10_000_000, isWhole: true };

export function optionalNumber(
  name: string,
  value: number | null | undefined,
  { min, max, isWhole = false }: NumberRange,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  const kind = isWhole ? 'a whole number' : 'a number';
  throw new Refusal('BAD_REQUEST', `'${name}' must be ${kind} from ${min} to ${max}, found ${value}`);
}

export function numberOr(name: string, value: number | null | undefined, fallback: number, range: NumberRange): number {
  return optionalNumber(name, value, range) ?? fallback;
}

export interface PagePayload {
  offset?: number | null;
  limit?: number | null;
}

const LIMIT = { min: 0, max: 1_000, isWhole: true };
/** Of one engine, in answers that are merged. */
const PART_ROWS_MAX = 10_000;

/** `isPart`: other engines have rows of the page too, so all up to its end are needed. */
export function pageRange(payload: PagePayload, isPart: boolean): { offset: number; limit: number } {
  const offset = numberOr('offset', payload.offset, 0, COUNT);
  const limit = numberOr('limit', payload.limit, 100, LIMIT);
  if (!isPart) return { offset, limit };
  if (offset + limit <= PART_ROWS_MAX) return { offset: 0, limit: offset + limit };
  const text = `In a cluster a page ends at row ${PART_ROWS_MAX}, 'offset' is ${offset}: narrow the time or the filter`;
  throw new Refusal('BAD_REQUEST', text);
}

/** How many groups of spans are listed. */
export function groupLimit({ limit }: TracesGroupByPayload): number {
  return numberOr('limit', limit, 100, LIMIT);
}

export function facetLimits({ limit, values_limit: valuesLimit }: TracesFacetsPayload) {
  return {
    limit: numberOr('limit', limit, 100, LIMIT),
    valuesLimit: numberOr('values_limit', valuesLimit, 20, LIMIT),
  };
}

/** How the payload asks for rows to be sorted. */
export function traceSort({ sort_by: by, sort_order: order }: TracesListPayload) {
  return { sortBy: by === 'duration_ms' ? ('duration' as const) : (by ?? 'start_time'), sortOrder: order ?? 'asc' };
}

/** A start after its end is a mistake, not an empty result. */
export function timeRange(payload: { start_time?: number | null; end_time?: number | null }): {
  readonly startTime: number | undefined;
  readonly endTime: number | undefined;
} {
  const startTime = optionalNumber('start_time', payload.start_time, TIME);
  const endTime = optionalNumber('end_time', payload.end_time, TIME);
  if (startTime !== undefined && endTime !== undefined && startTime > endTime) {
    throw new Refusal('BAD_REQUEST', `'start_time' (${startTime}) must not be after 'end_time' (${endTime})`);
  }
  return { startTime, endTime };
}
