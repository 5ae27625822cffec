// `engine::traces::list`: one row for each trace, filtered and sorted. Every filter over 100 000 spans has to answer
// within 50 ms, so rows are built only for the returned traces, and each distinct text is compared once.

import type { SpanRecord, TraceStatusWord } from '../records/records.ts';
import type { SpanStore } from './span-store.ts';
import { isInternal, type Trace } from './stored-trace.ts';

export type TraceSort = 'duration' | 'start_time' | 'name' | 'service_name';

export interface TraceQuery {
  readonly traceIds: readonly string[] | undefined;
  /** Parts of texts, case-insensitive. */
  readonly serviceName: string | undefined;
  readonly name: string | undefined;
  readonly status: string | undefined;
  readonly minDurationMs: number | undefined;
  readonly maxDurationMs: number | undefined;
  /** Unix milliseconds: traces whose root overlaps the range. */
  readonly startTime: number | undefined;
  readonly endTime: number | undefined;
  /** All of these, exactly. */
  readonly attributes: readonly (readonly [string, string])[];
  /** None of these. */
  readonly excludeAttributes: readonly (readonly [string, string])[];
  /** Whether `name` and the attributes may match any span of a trace. */
  readonly searchAllSpans: boolean;
  readonly includeInternal: boolean;
  readonly sortBy: TraceSort;
  readonly sortOrder: 'asc' | 'desc';
  readonly offset: number;
  readonly limit: number;
}

/** The root span, and the summary of its trace. */
export interface TraceRow extends SpanRecord {
  readonly duration_ms: number;
  readonly span_count: number;
  readonly services: readonly string[];
  readonly has_error: boolean;
  readonly error_count: number;
  readonly trace_status: TraceStatusWord;
  /** The span that matched the attributes, if it is not the root. */
  readonly found?: FoundSpan;
}

export interface FoundSpan {
  readonly span_id: string;
  readonly start_time_unix_nano: number;
  readonly duration_ms: number;
  readonly status: SpanRecord['status'];
  readonly status_description?: string;
}

export interface TracePage {
  readonly spans: readonly TraceRow[];
  readonly total: number;
}

export function listTraces(store: SpanStore, query: TraceQuery, nowMs: number): TracePage {
  const matches = matcherOf(query, nowMs);
  const found: Trace[] = [];
  for (const trace of candidates(store, query)) if (matches(trace)) found.push(trace);
  const page = selectPage(found, comparerOf(query, nowMs), query.offset, query.limit);
  return {
    spans: page.map((trace) => ({ ...rowOf(trace, nowMs), ...foundIn(trace, query, nowMs) })),
    total: found.length,
  };
}

/**
 * The newest span with the attributes, and not a span below it that has them too: a row is built from the root, which
 * may have ended differently.
 */
function foundIn(trace: Trace, query: TraceQuery, nowMs: number): Pick<TraceRow, 'found'> {
  if (!query.searchAllSpans || query.attributes.length === 0 || hasAll(trace.root, query.attributes)) return {};
  let newest: SpanRecord | undefined;
  for (const span of recordsOf(trace)) {
    if (newest !== undefined && span.start_time_unix_nano <= newest.start_time_unix_nano) continue;
    const above = span.parent_span_id === null ? undefined : trace.spans.get(span.parent_span_id)?.record;
    const isBelow = above !== undefined && hasAll(above, query.attributes);
    if (!isBelow && hasAll(span, query.attributes)) newest = span;
  }
  if (newest === undefined) return {};
  const { span_id, start_time_unix_nano, status, status_description: words } = newest;
  const duration_ms = durationMs(newest, nowMs);
  const description = words === undefined ? {} : { status_description: words };
  return { found: { span_id, start_time_unix_nano, duration_ms, status, ...description } };
}

export function rowOf(trace: Trace, nowMs: number): TraceRow {
  return {
    ...trace.root,
    duration_ms: durationMs(trace.root, nowMs),
    span_count: trace.spans.size,
    services: [...trace.services].sort(),
    has_error: trace.errorCount > 0,
    error_count: trace.errorCount,
    trace_status: trace.status,
  };
}

/** Of a span that has not ended: how long it has been running. */
export function durationMs(span: SpanRecord, nowMs: number): number {
  const endNano = span.pending === true ? nowMs * 1e6 : span.end_time_unix_nano;
  return Math.max(0, (endNano - span.start_time_unix_nano) / 1e6);
}

/** Compares each distinct text once: names and services are few, spans are many. */
export function containsText(part: string | undefined): (text: string) => boolean {
  if (part === undefined || part === '') return () => true;
  const lower = part.toLowerCase();
  const known = new Map<string, boolean>();
  return (text) => {
    let verdict = known.get(text);
    if (verdict === undefined) {
      verdict = text.toLowerCase().includes(lower);
      known.set(text, verdict);
    }
    return verdict;
  };
}

function candidates(store: SpanStore, { traceIds }: TraceQuery): Iterable<Trace> {
  if (traceIds === undefined) return store.traces();
  return [...new Set(traceIds)].flatMap((id) => store.trace(id) ?? []);
}

function matcherOf(query: TraceQuery, nowMs: number): (trace: Trace) => boolean {
  const hasService = containsText(query.serviceName);
  const hasName = containsText(query.name);
  const hasStatus = containsText(query.status);
  const { minDurationMs: min = 0, maxDurationMs: max = Number.POSITIVE_INFINITY, searchAllSpans } = query;
  const asksForSpan = query.name !== undefined || query.attributes.length > 0;
  const fits = (span: SpanRecord): boolean => hasName(span.name) && hasAll(span, query.attributes);
  return (trace) => {
    const { root } = trace;
    if (!overlaps(root, query, nowMs)) return false;
    const duration = durationMs(root, nowMs);
    if (duration < min || duration > max || !hasStatus(trace.status)) return false;
    if (!query.includeInternal && isInternal(root)) return false;
    if (query.serviceName !== undefined && !some(recordsOf(trace), ({ service_name }) => hasService(service_name)))
      return false;
    if (query.excludeAttributes.some((pair) => hasAll(root, [pair]))) return false;
    return !asksForSpan || fits(root) || (searchAllSpans && some(recordsOf(trace), fits));
  };
}

/** Whether a span overlaps a range of Unix milliseconds. */
export function overlaps(
  span: SpanRecord,
  { startTime, endTime }: Pick<TraceQuery, 'startTime' | 'endTime'>,
  nowMs: number,
): boolean {
  if (endTime !== undefined && span.start_time_unix_nano > endTime * 1e6) return false;
  const endNano = span.pending === true ? nowMs * 1e6 : span.end_time_unix_nano;
  return startTime === undefined || endNano >= startTime * 1e6;
}

function hasAll({ attributes }: SpanRecord, asked: readonly (readonly [string, string])[]): boolean {
  return asked.every(([key, value]) => attributes.some((pair) => pair[0] === key && pair[1] === value));
}

function* recordsOf(trace: Trace): Iterable<SpanRecord> {
  for (const { record } of trace.spans.values()) yield record;
}

function some<T>(items: Iterable<T>, test: (item: T) => boolean): boolean {
  for (const item of items) if (test(item)) return true;
  return false;
}

/** Equal ones are ordered by their ids, so that pages neither repeat nor skip a row. */
function comparerOf({ sortBy, sortOrder }: TraceQuery, nowMs: number): Compare<Trace> {
  const sign = sortOrder === 'asc' ? 1 : -1;
  const compare = COMPARERS[sortBy](nowMs);
  return (a, b) => sign * compare(a.root, b.root) || compareTexts(a.id, b.id);
}

/** The same order for rows. */
export function compareRows({ sortBy, sortOrder }: Pick<TraceQuery, 'sortBy' | 'sortOrder'>): Compare<TraceRow> {
  const sign = sortOrder === 'asc' ? 1 : -1;
  const byField = sortBy === 'duration' ? byDuration : COMPARERS[sortBy](0);
  return (a, b) => sign * byField(a, b) || compareTexts(a.trace_id, b.trace_id);
}

function byDuration(a: TraceRow, b: TraceRow): number {
  return a.duration_ms - b.duration_ms;
}

const COMPARERS: Readonly<Record<TraceSort, (nowMs: number) => Compare<SpanRecord>>> = {
  start_time: () => (a, b) => a.start_time_unix_nano - b.start_time_unix_nano,
  duration: (nowMs) => (a, b) => durationMs(a, nowMs) - durationMs(b, nowMs),
  name: () => (a, b) => compareTexts(a.name, b.name),
  service_name: () => (a, b) => compareTexts(a.service_name, b.service_name),
};

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export type Compare<T> = (a: T, b: T) => number;

/**
 * One page of a sorted list without sorting the list: clients request a hundred traces out of a hundred thousand.
 * Linear on average (quickselect); an adversarial list is sorted as a whole. Returns
 * at most `limit` items from `offset` on, in order. The list itself is reordered.
 */
export function selectPage<T>(items: T[], compare: Compare<T>, offset: number, limit: number): T[] {
  const end = Math.min(items.length, offset + limit);
  if (offset >= end) return [];
  if (offset > 0) placeFirst(items, offset, 0, compare);
  if (end < items.length) placeFirst(items, end, offset, compare);
  return items.slice(offset, end).sort(compare);
}

/** Afterwards the items of [`from`, `count`) are the smallest of those from `from` on. */
function placeFirst<T>(items: T[], count: number, from: number, compare: Compare<T>): void {
  let low = from;
  let high = items.length - 1;
  let rounds = 2 * Math.ceil(Math.log2(items.length + 1));
  while (low < high) {
    if (rounds-- === 0) return sortRange(items, low, high, compare);
    const pivot = medianOfThree(items, low, high, compare);
    let left = low;
    let right = high;
    while (left <= right) {
      while (compare(at(items, left), pivot) < 0) left++;
      while (compare(at(items, right), pivot) > 0) right--;
      if (left <= right) swap(items, left++, right--);
    }
    if (count - 1 <= right) high = right;
    else if (count - 1 >= left) low = left;
    else return;
  }
}

function medianOfThree<T>(items: readonly T[], low: number, high: number, compare: Compare<T>): T {
  const first = at(items, low);
  const middle = at(items, (low + high) >>> 1);
  const last = at(items, high);
  if (compare(first, middle) > 0) {
    return compare(first, last) < 0 ? first : compare(middle, last) > 0 ? middle : last;
  }
  return compare(middle, last) < 0 ? middle : compare(first, last) > 0 ? first : last;
}

function sortRange<T>(items: T[], low: number, high: number, compare: Compare<T>): void {
  for (const [index, item] of items
    .slice(low, high + 1)
    .sort(compare)
    .entries())
    items[low + index] = item;
}

function swap<T>(items: T[], a: number, b: number): void {
  const kept = at(items, a);
  items[a] = at(items, b);
  items[b] = kept;
}

function at<T>(items: readonly T[], index: number): T {
  // Both ends stay within the list: the caller has compared them with its length.
  return items[index] as T;
}
