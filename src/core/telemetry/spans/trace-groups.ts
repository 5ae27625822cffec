// Aggregates of many spans: traces by the value of an attribute, and the attributes to filter by.

import { countDurations } from '../metrics/durations.ts';
import type { DurationCounts } from '../records/intake.ts';
import type { SpanRecord } from '../records/records.ts';
import type { SpanStore } from './span-store.ts';
import { isInternal } from './stored-trace.ts';
import { durationMs } from './trace-list.ts';

export interface GroupQuery {
  readonly attribute: string;
  /** Unix milliseconds: spans that began earlier are left out. */
  readonly sinceMs: number | undefined;
  readonly limit: number;
  readonly includeInternal: boolean;
  /** The attribute whose value names the group. */
  readonly labelAttribute: string | undefined;
  /** The time from `partsSinceMs` to now in this many equal parts, each counted separately; 0: none. */
  readonly parts: number;
  readonly partsSinceMs: number | undefined;
  /** Whether the durations are reported too: percentiles cannot be merged. */
  readonly withDurations: boolean;
}

export interface SpanGroupPart {
  span_count: number;
  error_count: number;
  duration_ms: number;
}

export interface SpanGroup {
  readonly value: string;
  readonly label?: string;
  readonly span_count: number;
  readonly trace_count: number;
  readonly error_count: number;
  readonly avg_duration_ms: number;
  readonly p50_duration_ms: number;
  readonly p95_duration_ms: number;
  readonly max_duration_ms: number;
  readonly first_seen_ms: number;
  readonly last_seen_ms: number;
  /** Of the span that failed last, if any: its start and its error text. */
  readonly last_error_ms?: number;
  readonly last_error?: string;
  /** Oldest first. */
  readonly parts?: readonly SpanGroupPart[];
  /** Only in answers to other engines. */
  readonly durations?: DurationCounts;
}

interface Gathering {
  readonly parts: SpanGroupPart[];
  readonly durations: number[];
  readonly traces: Set<string>;
  label: string | undefined;
  errors: number;
  failed: SpanRecord | undefined;
  firstNano: number;
  lastNano: number;
}

/** The largest groups first. */
export function groupSpans(store: SpanStore, query: GroupQuery, nowMs: number): SpanGroup[] {
  const groups = new Map<string, Gathering>();
  for (const span of spansOf(store, query)) {
    const value = attributeOf(span, query.attribute);
    if (value === undefined) continue;
    const group = groups.get(value) ?? startGroup(span, query);
    groups.set(value, group);
    const tookMs = durationMs(span, nowMs);
    group.durations.push(tookMs);
    countIn(group.parts, span, tookMs, query, nowMs);
    group.traces.add(span.trace_id);
    if (span.status === 'error') countFailed(group, span);
    if (query.labelAttribute !== undefined) group.label ??= attributeOf(span, query.labelAttribute);
    group.firstNano = Math.min(group.firstNano, span.start_time_unix_nano);
    group.lastNano = Math.max(group.lastNano, span.start_time_unix_nano);
  }
  return [...groups]
    .sort(([a, one], [b, other]) => other.durations.length - one.durations.length || (a < b ? -1 : 1))
    .slice(0, query.limit)
    .map(([value, group]) => ({
      ...groupOf(value, group),
      ...(query.withDurations && { durations: countDurations(group.durations) }),
    }));
}

function* spansOf(store: SpanStore, { sinceMs, includeInternal }: GroupQuery): Iterable<SpanRecord> {
  const sinceNano = (sinceMs ?? 0) * 1e6;
  for (const trace of store.traces()) {
    for (const { record } of trace.spans.values()) {
      if (record.start_time_unix_nano >= sinceNano && (includeInternal || !isInternal(record))) yield record;
    }
  }
}

function startGroup({ start_time_unix_nano: nano }: SpanRecord, query: GroupQuery): Gathering {
  const parts = Array.from({ length: query.parts }, () => ({ span_count: 0, error_count: 0, duration_ms: 0 }));
  const none = { label: undefined, errors: 0, failed: undefined };
  return { ...none, parts, durations: [], traces: new Set(), firstNano: nano, lastNano: nano };
}

function countFailed(group: Gathering, span: SpanRecord): void {
  group.errors++;
  const isNewest = group.failed === undefined || span.start_time_unix_nano >= group.failed.start_time_unix_nano;
  if (isNewest) group.failed = span;
}

/** Stack traces are long, and the trace contains the full one. */
const ERROR_CHARS_MAX = 1_000;

function lastErrorOf({ failed }: Gathering): Pick<SpanGroup, 'last_error_ms' | 'last_error'> {
  if (failed === undefined) return {};
  const { start_time_unix_nano: nano, status_description: words } = failed;
  const isLong = (words?.length ?? 0) > ERROR_CHARS_MAX;
  return {
    last_error_ms: nano / 1e6,
    ...(words !== undefined && { last_error: isLong ? `${words.slice(0, ERROR_CHARS_MAX)}…` : words }),
  };
}

/** A span counts in the interval in which it began. */
function countIn(
  parts: readonly SpanGroupPart[],
  { start_time_unix_nano: nano, status }: SpanRecord,
  tookMs: number,
  { partsSinceMs: sinceMs = 0 }: GroupQuery,
  nowMs: number,
): void {
  const index = Math.floor(((nano / 1e6 - sinceMs) * parts.length) / Math.max(1, nowMs - sinceMs));
  const part = parts[Math.min(Math.max(index, 0), parts.length - 1)];
  if (part === undefined) return;
  part.span_count++;
  part.duration_ms += tookMs;
  if (status === 'error') part.error_count++;
}

function groupOf(value: string, group: Gathering): SpanGroup {
  const sorted = Float64Array.from(group.durations).sort();
  const sum = sorted.reduce((total, duration) => total + duration, 0);
  return {
    value,
    ...(group.label !== undefined && { label: group.label }),
    span_count: sorted.length,
    trace_count: group.traces.size,
    error_count: group.errors,
    avg_duration_ms: sum / sorted.length,
    p50_duration_ms: percentile(sorted, 0.5),
    p95_duration_ms: percentile(sorted, 0.95),
    max_duration_ms: sorted.at(-1) ?? 0,
    first_seen_ms: group.firstNano / 1e6,
    last_seen_ms: group.lastNano / 1e6,
    ...lastErrorOf(group),
    ...(group.parts.length > 0 && { parts: group.parts }),
  };
}

/** Of sorted values: the one at floor(n × p), the rule for all percentiles (modules 11.6). */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export interface Facet {
  readonly key: string;
  readonly count: number;
  readonly values: readonly { readonly value: string; readonly count: number }[];
}

export interface FacetQuery {
  /** Only this attribute, then with more values; absent: all, the most frequent first. */
  readonly key: string | undefined;
  /** Part of a value, case-insensitive. */
  readonly search: string | undefined;
  readonly limit: number;
  readonly valuesLimit: number;
}

/** Distinct values remembered of one attribute: ids have as many values as there are spans. */
const VALUES_KNOWN_MAX = 10_000;
const KEYS_KNOWN_MAX = 2_000;

/** Attribute keys and their frequent values, for suggestions. */
export function facetsOf(store: SpanStore, { key, search, limit, valuesLimit }: FacetQuery): Facet[] {
  const lower = search?.toLowerCase();
  const facets = new Map<string, { count: number; values: Map<string, number> }>();
  for (const trace of store.traces()) {
    for (const { record } of trace.spans.values()) {
      for (const [name, value] of record.attributes) {
        if (key !== undefined && name !== key) continue;
        if (lower !== undefined && !value.toLowerCase().includes(lower)) continue;
        let facet = facets.get(name);
        if (facet === undefined) {
          if (facets.size >= KEYS_KNOWN_MAX) continue;
          facet = { count: 0, values: new Map() };
          facets.set(name, facet);
        }
        facet.count++;
        const known = facet.values.get(value);
        if (known !== undefined || facet.values.size < VALUES_KNOWN_MAX) facet.values.set(value, (known ?? 0) + 1);
      }
    }
  }
  return mostFrequent(facets, limit, ({ count }) => count).map(([name, { count, values }]) => ({
    key: name,
    count,
    values: mostFrequent(values, valuesLimit, (times) => times).map(([value, times]) => ({ value, count: times })),
  }));
}

function mostFrequent<T>(counts: ReadonlyMap<string, T>, limit: number, countOf: (value: T) => number): [string, T][] {
  return [...counts].sort(([a, one], [b, other]) => countOf(other) - countOf(one) || (a < b ? -1 : 1)).slice(0, limit);
}

function attributeOf({ attributes }: SpanRecord, key: string): string | undefined {
  return attributes.find(([name]) => name === key)?.[1];
}
