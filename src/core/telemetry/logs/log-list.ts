// Lists of logs: `engine::logs::list`, the search of the console, and its histogram.

import type { LogRecord, SeverityText } from '../records/records.ts';
import type { LogMatcher } from './log-query.ts';
import type { LogStore, StoredLog } from './log-store.ts';
import { SearchBudget } from './search-budget.ts';

export interface LogFilter {
  /** Unix milliseconds, both included. */
  readonly startTime: number | undefined;
  readonly endTime: number | undefined;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  readonly severityMin: number | undefined;
  /** The exact word, case-insensitive; of several, any. */
  readonly severityTexts: readonly string[] | undefined;
  readonly serviceNames: readonly string[] | undefined;
  readonly matches: LogMatcher | undefined;
}

export interface ListedLog extends Omit<LogRecord, 'is_quiet'> {
  /** The number within the engine's run: `engine::logs::context` finds the record by it. */
  readonly log_id: number;
  /** Another engine of the cluster, which has the record. */
  readonly engine?: string;
}

export interface LogPageQuery {
  readonly order: 'desc' | 'asc';
  readonly offset: number;
  readonly limit: number;
}

export interface LogPage {
  readonly logs: readonly ListedLog[];
  readonly total: number;
}

export function listLogs(store: LogStore, filter: LogFilter, query: LogPageQuery): LogPage {
  return pageOf([...matching(store, filter)], query);
}

/** The same, with the total of each service. */
export function searchLogs(
  store: LogStore,
  filter: LogFilter,
  query: LogPageQuery,
): LogPage & { readonly services: readonly ServiceCount[] } {
  const found = [...matching(store, filter)];
  return { services: countServices(found), ...pageOf(found, query) };
}

function pageOf(found: StoredLog[], { order, offset, limit }: LogPageQuery): LogPage {
  if (order === 'asc') found.reverse();
  return { logs: found.slice(offset, offset + limit).map(listed), total: found.length };
}

export function listed({ id, record }: StoredLog): ListedLog {
  const { is_quiet: _mark, ...shown } = record;
  return { ...shown, log_id: id };
}

export interface ServiceCount {
  readonly service_name: string;
  readonly count: number;
}

/** The service with the most records first. */
function countServices(found: readonly StoredLog[]): ServiceCount[] {
  const counts = new Map<string, number>();
  for (const { record } of found) {
    counts.set(record.service_name, (counts.get(record.service_name) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([service_name, count]) => ({ service_name, count }));
}

export interface HistogramBucket {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly counts: Readonly<Record<SeverityText, number>>;
}

export interface LogHistogram {
  readonly buckets: readonly HistogramBucket[];
  readonly start_ms: number;
  readonly end_ms: number;
  readonly bucket_ms: number;
  readonly total: number;
}

/** By severity, in that many buckets between the first and the last, or over the requested range. */
export function logHistogram(store: LogStore, filter: LogFilter, bucketCount: number): LogHistogram {
  const times: number[] = [];
  const severities: SeverityText[] = [];
  for (const { timeNano, record } of matching(store, filter)) {
    times.push(timeNano / 1e6);
    severities.push(record.severity_text);
  }
  const startMs = Math.floor(filter.startTime ?? times.at(-1) ?? 0);
  const endMs = Math.max(startMs + 1, Math.ceil(filter.endTime ?? times[0] ?? 0));
  const bucketMs = Math.max(1, Math.ceil((endMs - startMs + 1) / bucketCount));
  const length = Math.ceil((endMs - startMs + 1) / bucketMs);
  const counts = Array.from({ length }, () => ({ TRACE: 0, DEBUG: 0, INFO: 0, WARN: 0, ERROR: 0 }));
  for (const [index, time] of times.entries()) {
    const bucket = counts[Math.min(length - 1, Math.floor((time - startMs) / bucketMs))];
    const severity = severities[index];
    if (bucket !== undefined && severity !== undefined) bucket[severity]++;
  }
  const buckets = counts.map((count, index) => ({
    start_ms: startMs + index * bucketMs,
    end_ms: startMs + (index + 1) * bucketMs,
    counts: count,
  }));
  return { buckets, start_ms: startMs, end_ms: endMs, bucket_ms: bucketMs, total: times.length };
}

const ADVICE = 'Name a time, a service or a severity, add a word that the record contains, or use a simpler expression';

/** Newest first. Throws a `Refusal` where the search is over its budget: a partial result is not an answer. */
function* matching(store: LogStore, filter: LogFilter): Iterable<StoredLog> {
  const texts = filter.severityTexts?.map((text) => text.toUpperCase());
  const budget = new SearchBudget(store.count, ADVICE);
  for (const log of store.newestFirst()) {
    budget.next();
    if (hasFields(log, filter, texts) && (filter.matches?.(log.record, budget) ?? true)) yield log;
  }
}

function hasFields({ record, timeNano }: StoredLog, filter: LogFilter, texts: readonly string[] | undefined): boolean {
  if (filter.startTime !== undefined && timeNano < filter.startTime * 1e6) return false;
  // The end of the millisecond: clients have no finer times.
  if (filter.endTime !== undefined && timeNano >= (filter.endTime + 1) * 1e6) return false;
  if (filter.traceId !== undefined && record.trace_id !== filter.traceId) return false;
  if (filter.spanId !== undefined && record.span_id !== filter.spanId) return false;
  if (filter.severityMin !== undefined && record.severity_number < filter.severityMin) return false;
  if (texts !== undefined && !texts.includes(record.severity_text)) return false;
  return filter.serviceNames === undefined || filter.serviceNames.includes(record.service_name);
}
