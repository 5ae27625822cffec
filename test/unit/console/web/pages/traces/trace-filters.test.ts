// Filters of the trace list in the address and as a query to the server.

import { expect, test } from 'vitest';
import { readMoment } from '../../../../../../src/console/web/data/time-range.ts';
import {
  filterProblem,
  parseTraceFilters,
  printTraceFilters,
  TRACE_FIELDS,
  type TraceFilter,
  traceFilter,
  traceSearchOf,
  withFilter,
} from '../../../../../../src/console/web/pages/traces/logic/trace-filters.ts';
import { forEachSeed, type SeededRandom } from '../../../../../support/random/seeded-random.ts';

const NOW_MS = 1_700_000_000_000;
const AWKWARD = ['', ',', '~', '=', ':', '!', '-', '~0', 'a=b', 'ünï', '"', '%2C', ' ', '\u202e', '0'];

function randomText(random: SeededRandom): string {
  return Array.from({ length: random.below(5) }, () => random.pick(AWKWARD)).join('');
}

function randomFilter(random: SeededRandom): TraceFilter {
  const field = random.pick(TRACE_FIELDS);
  const isAttribute = field === 'attr';
  return traceFilter(field, randomText(random), {
    isOff: random.chance(50),
    ...(isAttribute && { key: randomText(random), isNot: random.chance(50) }),
  });
}

test('[TRC-2] Filters are the same after a round trip through the address', () => {
  forEachSeed(200, (random) => {
    const filters = Array.from({ length: random.below(6) }, () => randomFilter(random));
    expect(parseTraceFilters(printTraceFilters(filters))).toEqual(filters);
  });
});

test('[TRC-2] Parts of an address that are not filters are left out', () => {
  expect(parseTraceFilters('colour:red,,attr:lonely,service:api')).toEqual([traceFilter('service', 'api')]);
});

test('[TRC-2] Filters make one query, without those that are switched off', () => {
  const filters = [
    traceFilter('service', 'api'),
    traceFilter('status', 'error', { isOff: true }),
    traceFilter('min', '100'),
    traceFilter('from', 'now-15m'),
    traceFilter('attr', 'eu', { key: 'region' }),
    traceFilter('attr', 'bot', { key: 'client', isNot: true }),
  ];
  expect(traceSearchOf(filters, NOW_MS)).toEqual({
    service_name: 'api',
    min_duration_ms: 100,
    start_time: NOW_MS - 900_000,
    attributes: [['region', 'eu']],
    exclude_attributes: [['client', 'bot']],
  });
});

test.each([
  ['trace', 'abc', /32 hexadecimal/],
  ['min', '-1', /0 or more/],
  ['max', 'fast', /milliseconds/],
  ['from', 'yesterday-ish', /now-15m/],
  ['status', 'fine', /ok, error or pending/],
] as const)('[TRC-2] %s "%s" says what is wrong and is not sent', (field, value, problem) => {
  const filter = traceFilter(field, value);
  expect(filterProblem(filter)).toMatch(problem);
  expect(traceSearchOf([filter], NOW_MS)).toEqual({});
});

test('[TRC-2] A second filter of a field replaces the first; attributes add up', () => {
  const status = withFilter([traceFilter('status', 'ok')], traceFilter('status', 'error'));
  expect(status).toEqual([traceFilter('status', 'error')]);
  const attributes = withFilter([traceFilter('attr', '1', { key: 'a' })], traceFilter('attr', '2', { key: 'a' }));
  expect(attributes).toHaveLength(2);
});

test('[TRC-2] Times are relative, ISO or milliseconds', () => {
  expect(readMoment('now-2h', NOW_MS)).toBe(NOW_MS - 7_200_000);
  expect(readMoment('1700000000000', NOW_MS)).toBe(NOW_MS);
  expect(readMoment('2023-11-14T22:13:20Z', NOW_MS)).toBe(NOW_MS);
  expect(readMoment('soon', NOW_MS)).toBeUndefined();
});
