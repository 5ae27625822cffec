// The address of the Logs page, and the query to the server in it.

import type { LiveFilter } from '../../../api/live.ts';
import type { LogSearch } from '../../../api/telemetry.ts';
import { param, type SearchValues } from '../../data/search.ts';
import { boundsOf } from '../../data/time-range.ts';
import { SEVERITIES } from './log-text.tsx';
import { parseLogQuery, printLogQuery } from './logic/log-query.ts';

export const LOGS_SEARCH = {
  sev: param.list(SEVERITIES),
  svc: param.text(),
  q: param.text(),
  /** Terms of the query that are switched off: kept, but not sent. */
  off: param.text(),
  trace: param.text(),
  span: param.text(),
  from: param.text(),
  to: param.text(),
  order: param.choice(['desc', 'asc']),
  wrap: param.flag(),
  group: param.flag(),
  /** Words to mark without filtering. */
  mark: param.text(),
  /** Attributes as columns. */
  cols: param.list(),
  id: param.optional(),
  /** The record around which records are shown, without filters. */
  around: param.optional(),
};

export type LogsSearch = SearchValues<typeof LOGS_SEARCH>;

export const AROUND_ROWS = 50;

export function logQuestion(search: LogsSearch, nowMs: number): LogSearch {
  if (search.around !== undefined) return { around: { id: search.around, before: AROUND_ROWS, after: AROUND_ROWS } };
  const q = printLogQuery(parseLogQuery(search.q));
  return {
    ...(search.sev.length > 0 && { severities: [...search.sev] }),
    ...(search.svc !== '' && { service_name: search.svc }),
    ...(q !== '' && { q }),
    ...(search.trace !== '' && { trace_id: search.trace }),
    ...(search.span !== '' && { span_id: search.span }),
    ...boundsOf(search, nowMs),
  };
}

/** Undefined where the live topic has no such filter: an end of the range, the records around one. */
export function liveLogFilter(question: LogSearch): LiveFilter | undefined {
  if (question.end_time !== undefined || question.around !== undefined || question.span_id !== undefined)
    return undefined;
  const { q, service_name: service, trace_id: trace } = question;
  return {
    ...(q !== undefined && { q }),
    ...(service !== undefined && { service_name: service }),
    ...(trace !== undefined && { trace_id: trace }),
  };
}

export interface ActiveLogFilter {
  readonly label: string;
  readonly removed: Partial<LogsSearch>;
}

/** Each filter with the change that removes it (EMP-3). */
export function activeLogFilters(search: LogsSearch): ActiveLogFilter[] {
  const all: (ActiveLogFilter | false)[] = [
    search.sev.length > 0 && { label: `severity: ${search.sev.join(', ')}`, removed: { sev: [] } },
    search.svc !== '' && { label: `service: ${search.svc}`, removed: { svc: '' } },
    search.q !== '' && { label: `query: ${search.q}`, removed: { q: '' } },
    search.trace !== '' && { label: `trace: ${search.trace}`, removed: { trace: '' } },
    search.span !== '' && { label: `span: ${search.span}`, removed: { span: '' } },
    (search.from !== '' || search.to !== '') && { label: 'time range', removed: { from: '', to: '' } },
  ];
  return all.filter((filter) => filter !== false);
}
