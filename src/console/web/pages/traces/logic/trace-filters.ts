// The filters of the trace list (TRC-2): as chips, in the address, and as the query to the server. The address holds
// all of them in one parameter, `field:value` parts joined by commas. `!` in front marks a filter that is switched off,
// `-` one that excludes.

import type { TraceSearch } from '../../../../api/telemetry.ts';
import { readMoment } from '../../../data/time-range.ts';

export const TRACE_FIELDS = [
  'trace',
  'service',
  'name',
  'status',
  'min',
  'max',
  'from',
  'to',
  'function',
  'attr',
] as const;
export type TraceField = (typeof TRACE_FIELDS)[number];

export interface TraceFilter {
  readonly field: TraceField;
  readonly value: string;
  /** Only of `attr`. */
  readonly key?: string;
  readonly isOff: boolean;
  /** Only of `attr`. */
  readonly isNot: boolean;
}

export function traceFilter(field: TraceField, value: string, more: Partial<TraceFilter> = {}): TraceFilter {
  return { field, value, isOff: false, isNot: false, ...more };
}

export function printTraceFilters(filters: readonly TraceFilter[]): string {
  return filters
    .map((filter) => {
      const value =
        filter.field === 'attr' ? `${escaped(filter.key ?? '')}=${escaped(filter.value)}` : escaped(filter.value);
      return `${filter.isOff ? '!' : ''}${filter.isNot ? '-' : ''}${filter.field}:${value}`;
    })
    .join(',');
}

/** Invalid parts are left out: an address that was typed by hand must not break the page. */
export function parseTraceFilters(text: string): TraceFilter[] {
  return text.split(',').flatMap((part): TraceFilter[] => {
    const match = /^(!?)(-?)([a-z]+):(.*)$/s.exec(part);
    const field = TRACE_FIELDS.find((name) => name === match?.[3]);
    if (match === null || field === undefined) return [];
    const flags = { isOff: match[1] === '!', isNot: match[2] === '-' && field === 'attr' };
    const value = match[4] ?? '';
    if (field !== 'attr') return [{ field, value: unescaped(value), ...flags }];
    const equals = value.indexOf('=');
    if (equals === -1) return [];
    return [{ field, key: unescaped(value.slice(0, equals)), value: unescaped(value.slice(equals + 1)), ...flags }];
  });
}

function escaped(text: string): string {
  return text.replace(/[~,=]/g, (sign) => (sign === '~' ? '~0' : sign === ',' ? '~1' : '~2'));
}

function unescaped(text: string): string {
  return text.replace(/~([012])/g, (_, digit) => (digit === '0' ? '~' : digit === '1' ? ',' : '='));
}

/** Adds a filter. Every field but `attr` has one filter at most. */
export function withFilter(filters: readonly TraceFilter[], added: TraceFilter): TraceFilter[] {
  const isReplaced = (filter: TraceFilter): boolean =>
    filter.field === added.field &&
    (added.field !== 'attr' || (filter.key === added.key && filter.value === added.value));
  const at = filters.findIndex(isReplaced);
  if (at === -1) return [...filters, added];
  return filters.map((filter, index) => (index === at ? added : filter));
}

const LABELS: Readonly<Record<Exclude<TraceField, 'attr'>, string>> = {
  trace: 'trace id is',
  service: 'service has',
  name: 'span name has',
  status: 'status is',
  min: 'at least',
  max: 'at most',
  from: 'from',
  to: 'until',
  function: 'function is',
};

export function filterText(filter: TraceFilter): string {
  if (filter.field === 'attr') return `${filter.key} ${filter.isNot ? '≠' : '='} ${filter.value}`;
  const unit = filter.field === 'min' || filter.field === 'max' ? ' ms' : '';
  const moment = filter.field === 'from' || filter.field === 'to' ? momentText(filter.value) : filter.value;
  return `${LABELS[filter.field]} ${moment}${unit}`;
}

function momentText(value: string): string {
  const ms = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  return Number.isNaN(ms) ? value : new Date(ms).toISOString().replace('T', ' ').replace('Z', ' UTC');
}

/** Why a filter cannot be used. The chip shows it, and the filter is not sent. */
export function filterProblem(filter: TraceFilter): string | undefined {
  switch (filter.field) {
    case 'trace':
      return /^[0-9a-f]{32}$/i.test(filter.value.trim()) ? undefined : 'a trace id has 32 hexadecimal digits';
    case 'min':
    case 'max': {
      const number = Number(filter.value);
      return filter.value.trim() !== '' && Number.isFinite(number) && number >= 0
        ? undefined
        : 'a duration is a number of milliseconds, 0 or more';
    }
    case 'from':
    case 'to':
      return readMoment(filter.value, 0) === undefined ? 'a time is now-15m, ISO or Unix milliseconds' : undefined;
    case 'status':
      return ['ok', 'error', 'pending'].includes(filter.value) ? undefined : 'a status is ok, error or pending';
    default:
      return filter.value === '' && filter.field !== 'attr' ? 'the value is missing' : undefined;
  }
}

/** The query to the server: filters that are on and valid. */
export function traceSearchOf(filters: readonly TraceFilter[], nowMs: number): TraceSearch {
  const search: TraceSearch = {};
  for (const filter of filters) {
    if (filter.isOff || filterProblem(filter) !== undefined) continue;
    addToSearch(search, filter, nowMs);
  }
  return search;
}

function addToSearch(search: TraceSearch, filter: TraceFilter, nowMs: number): void {
  const value = filter.value.trim();
  switch (filter.field) {
    case 'trace':
      search.trace_id = value.toLowerCase();
      break;
    case 'service':
      search.service_name = value;
      break;
    case 'name':
      search.name = value;
      break;
    case 'status':
      search.status = value;
      break;
    case 'min':
      search.min_duration_ms = Number(value);
      break;
    case 'max':
      search.max_duration_ms = Number(value);
      break;
    case 'from':
      search.start_time = readMoment(value, nowMs) ?? 0;
      break;
    case 'to':
      search.end_time = readMoment(value, nowMs) ?? 0;
      break;
    case 'function':
      search.function_id = value;
      break;
    case 'attr': {
      const pair: [string, string] = [filter.key ?? '', filter.value];
      if (filter.isNot) search.exclude_attributes = [...(search.exclude_attributes ?? []), pair];
      else search.attributes = [...(search.attributes ?? []), pair];
      break;
    }
  }
}
