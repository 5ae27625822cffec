import { describe, expect, test } from 'vitest';
import { type LogFilter, listLogs, logHistogram } from '../../../../../src/core/telemetry/logs/log-list.ts';
import { readLogQuery } from '../../../../../src/core/telemetry/logs/log-query.ts';
import { boundRecord, RECORD_BYTES_MAX } from '../../../../../src/core/telemetry/logs/log-record.ts';
import { LogStore } from '../../../../../src/core/telemetry/logs/log-store.ts';
import { SEARCH_STEPS_MAX, SearchBudget } from '../../../../../src/core/telemetry/logs/search-budget.ts';
import type { LogRecord } from '../../../../../src/core/telemetry/records/records.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';
import { logRecord, START_NANO } from '../../../../support/telemetry/telemetry-records.ts';

const MIB = 1024 * 1024;
const START_MS = START_NANO / 1e6;
const ALL: LogFilter = {
  ...{ startTime: undefined, endTime: undefined, traceId: undefined, spanId: undefined },
  ...{ severityMin: undefined, severityTexts: undefined, serviceNames: undefined, matches: undefined },
};
const PAGE = { order: 'desc', offset: 0, limit: 100 } as const;

const newBudget = () => new SearchBudget(undefined, '');

function newStore(limits: { maxCount?: number; maxBytes?: number; retentionMs?: number } = {}) {
  const dropped: string[] = [];
  const whole = { maxCount: 1_000, maxBytes: 64 * MIB, retentionMs: 3_600_000, ...limits };
  const context = {
    onDrop: (reason: string, count: number) => void dropped.push(`${reason} ${count}`),
    isWorthKeeping: ({ severity_number }: LogRecord) => severity_number >= 13,
  };
  return { dropped, store: new LogStore(whole, context) };
}

const at = (ms: number, body: string) => logRecord({ timestamp_unix_nano: START_NANO + ms * 1e6, body });
const bodies = (store: LogStore, filter: Partial<LogFilter> = {}) =>
  listLogs(store, { ...ALL, ...filter }, PAGE).logs.map(({ body }) => body);

describe('a store of logs', () => {
  test('lists records by event time or else observed time, the newest first, late ones too', () => {
    const { store } = newStore();
    store.add(at(10, 'ten'));
    store.add(at(30, 'thirty'));
    store.add(at(20, 'twenty, late'));
    const observed_timestamp_unix_nano = START_NANO + 25e6;
    store.add(logRecord({ timestamp_unix_nano: 0, observed_timestamp_unix_nano, body: 'observed' }));
    expect(bodies(store)).toEqual(['thirty', 'observed', 'twenty, late', 'ten']);
    expect(bodies(store, { startTime: START_MS + 20, endTime: START_MS + 25 })).toEqual(['observed', 'twenty, late']);
  });

  test('[O1] keeps its limits of count, bytes and age', () => {
    const { store, dropped } = newStore({ maxCount: 3, retentionMs: 1_000 });
    for (let one = 0; one < 5; one++) store.add(at(one, `${one}`));
    expect(bodies(store)).toEqual(['4', '3', '2']);
    store.expire(START_MS + 1_003);
    expect(bodies(store)).toEqual(['4', '3']);
    expect(dropped).toEqual(['limit 1', 'limit 1', 'retention 1']);
    const small = newStore({ maxBytes: 2_000 });
    for (let one = 0; one < 5; one++) small.store.add(at(one, 'x'.repeat(400)));
    expect(small.store.bytes).toBeLessThanOrEqual(2_000);
    expect(small.store.count).toBe(1);
  });

  test('[O7] keeps warnings longer than other records, in half of its room', () => {
    const { store } = newStore({ maxCount: 10 });
    const warning = (ms: number) => store.add({ ...at(ms, `warning ${ms}`), severity_number: 13 });
    warning(0);
    for (let one = 1; one < 100; one++) store.add(at(one, `${one}`));
    expect(bodies(store)).toEqual(['99', '98', '97', '96', '95', '94', '93', '92', '91', 'warning 0']);
    expect([store.wholeSinceMs, store.keptSinceMs].map((ms) => Math.round(ms ?? 0))).toEqual([START_MS + 90, START_MS]);
    for (let one = 100; one < 120; one++) warning(one);
    for (let one = 120; one < 126; one++) store.add(at(one, `${one}`));
    expect(bodies(store).slice(0, 6)).toEqual(['125', '124', '123', '122', '121', 'warning 119']);
    expect(store.count).toBe(10);
  });

  test('lists a late record among kept ones at its time, and finds what was around it', () => {
    const { store } = newStore({ maxCount: 6 });
    for (const ms of [10, 20]) store.add({ ...at(ms, `warning ${ms}`), severity_number: 13 });
    for (let one = 30; one < 36; one++) store.add(at(one, `${one}`));
    const late = store.add({ ...at(15, 'late'), severity_number: 13 });
    expect(bodies(store)).toEqual(['35', '34', '33', 'warning 20', 'late', 'warning 10']);
    expect(store.around(late.id, 1, 1)?.map(({ record }) => record.body)).toEqual(['warning 10', 'late', 'warning 20']);
  });

  test('[LOG-3] counts every record of the range in exactly one bucket', () => {
    forEachSeed(20, (random) => {
      const { store } = newStore();
      const count = random.bits() % 100;
      for (let one = 0; one < count; one++) store.add(at(random.bits() % 100_000, 'x'));
      const { buckets, total } = logHistogram(store, ALL, 1 + (random.bits() % 100));
      expect(total).toBe(count);
      expect(buckets.reduce((sum, { counts }) => sum + counts.INFO, 0)).toBe(count);
    });
  });
});

describe('a stored record', () => {
  test('[O1] is cut to 16 KiB, and cutting it again changes nothing', () => {
    forEachSeed(30, (random) => {
      const attributes: Record<string, unknown> = {};
      for (let one = random.bits() % 300; one > 0; one--) attributes[`k${one}`] = 'ä'.repeat(random.bits() % 2_000);
      const { record, isCut } = boundRecord(logRecord({ body: '€'.repeat(random.bits() % 20_000), attributes }));
      const sizes = Object.entries(record.attributes).map(
        ([key, value]) => key.length + Buffer.byteLength(String(value)),
      );
      const bytes = sizes.reduce((sum, size) => sum + size, Buffer.byteLength(record.body));
      expect(bytes).toBeLessThanOrEqual(RECORD_BYTES_MAX);
      expect(record.body).not.toContain('\u{FFFD}');
      expect(record.attributes['svc.truncated']).toBe(isCut ? true : undefined);
      expect(boundRecord(record)).toEqual({ record, isCut: false });
    });
  });

  test('[LOG-2] has no terminal codes', () => {
    const { record } = boundRecord(
      logRecord({ body: '\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007' }),
    );
    expect(record.body).toBe('red link');
  });
});

describe('[LOG-4] the query language', () => {
  const record: LogRecord = logRecord({
    body: 'Order 17 failed: card "gold" declined',
    severity_number: 17,
    severity_text: 'ERROR',
    service_name: 'payments',
    attributes: { code: 'E42', amount: 99.5, user: { id: 'u-1' }, 'http.status': 502 },
    trace_id: 'abc',
  });

  test.each([
    ['order failed', true],
    ['order done', false],
    ['"17 failed"', true],
    ['"failed 17"', false],
    ['"card \\"gold\\""', true],
    ['-done', true],
    ['-order', false],
    ['e42', true],
    ['service:pay', true],
    ['service=pay', false],
    ['service!=shop', true],
    ['function=payments', true],
    ['function=shop::order', false],
    ['severity>=warn', true],
    ['severity<error', false],
    ['level:error', true],
    ['severity!=error', false],
    ['attr.code=E42', true],
    ['attr.code:e4', true],
    ['attr.amount>=99', true],
    ['attr.amount>100', false],
    ['attr.user.id=u-1', true],
    ['attr.http.status=502', true],
    ['attr.none=1', false],
    ['attr.none!=1', true],
    ['-attr.code=E42', false],
    ['trace=abc', true],
    ['/fail(ed|ure)/', true],
    ['/ORDER/', false],
    ['/ORDER/i', true],
    ['-/x{3}/ "card"', true],
    ['http://example', false],
    ['', true],
    ['~', false],
  ])('%s → %s', (query, expected) => {
    const read = readLogQuery(query);
    expect(read.ok && read.matches(record, newBudget())).toBe(expected);
  });

  test('a record belongs to the function that it names, before its service', () => {
    const read = readLogQuery('function="shop::order"');
    const written = logRecord({ service_name: 'shop', attributes: { function_id: 'shop::order' } });
    expect(read.ok && read.matches(written, newBudget())).toBe(true);
  });

  test.each([
    ['"open', 'character 1'],
    ['x /(/', 'character 3'],
    ['/a', "no closing '/'"],
    ['/a/g', "'g' is not a flag"],
    ['severity>=loud', "'loud' is not a severity"],
    ['attr.amount>many', 'needs a number'],
    ['service>3', "'service' takes"],
    [`/${'a'.repeat(300)}/`, 'the limit of 256 bytes'],
    ['x'.repeat(5_000), 'the limit is 4096'],
  ])('%s is refused: %s', (query, text) => {
    const read = readLogQuery(query);
    expect(read.ok ? 'accepted' : read.reason).toContain(text);
  });

  test('[X11] an expression that never ends in a backtracking engine ends', () => {
    const read = readLogQuery('/(a+)+$/');
    expect(read.ok && read.matches(logRecord({ body: `${'a'.repeat(5_000)}!` }), newBudget())).toBe(false);
  });

  test('an expression with too large a program is refused before it runs', () => {
    const read = readLogQuery(`/${'x{1000}'.repeat(6)}/`);
    expect(read.ok ? 'accepted' : read.reason).toContain('a program of 6002 instructions, the limit is 5000');
  });

  test('a search over its budget fails with the expression, its progress and what to do, and returns no partial list', () => {
    const { store } = newStore();
    for (let one = 0; one < 100; one++) store.add(at(one, 'x'.repeat(10_000)));
    const query = `/(x|y)*${'[xz]'.repeat(50)}$/`;
    const read = readLogQuery(query);
    if (!read.ok) throw new Error(read.reason);
    expect(() => listLogs(store, { ...ALL, matches: read.matches }, PAGE)).toThrow(query);
    expect(() => listLogs(store, { ...ALL, matches: read.matches }, PAGE)).toThrow(
      new RegExp(`ended after \\d\\d of 100 log records: its limit is ${SEARCH_STEPS_MAX} steps .* Name a time`),
    );
    expect(() => logHistogram(store, { ...ALL, matches: read.matches }, 10)).toThrow('of 100 log records');
  });

  test('an expression is charged only for records that match all other terms, wherever it is written', () => {
    const { store } = newStore();
    for (let one = 0; one < 100; one++) store.add(at(one, 'x'.repeat(10_000)));
    store.add(at(200, 'order 17 xxx'));
    for (const query of [`/(x|y)*${'[xz]?'.repeat(40)}$/ order`, `severity>=info -/(x|y){999}[xz]/ attr.a!=1 order`]) {
      const read = readLogQuery(query);
      if (!read.ok) throw new Error(read.reason);
      expect(bodies(store, { matches: read.matches })).toEqual(['order 17 xxx']);
    }
  });

  test.each([
    ['sixty paths that no record has', Array.from({ length: 60 }, (_, one) => `-attr.${'a.'.repeat(26)}${one}=x`)],
    ['sixty attributes that no record has', Array.from({ length: 60 }, (_, one) => `-attr.${'a'.repeat(50)}${one}=x`)],
    ['sixty phrases of forty characters', Array.from({ length: 60 }, (_, one) => `-"${'a'.repeat(39)}${one}"`)],
  ])('[O6] %s are charged for empty records too', (_what, terms) => {
    const read = readLogQuery(terms.join(' '));
    if (!read.ok) throw new Error(read.reason);
    const record = logRecord({ body: '', attributes: {} });
    const budget = newBudget();
    budget.charge('what was before', 1, SEARCH_STEPS_MAX - 1_000_000);
    const search = () => {
      for (let one = 0; one < 5_000; one++) read.matches(record, budget);
    };
    expect(search).toThrow('its limit is');
  });

  test('[O6] a text for which the automaton must be extended costs four times as much as others', () => {
    const { store } = newStore();
    const newTexts = (seed: number) =>
      Array.from({ length: 10_000 }, (_, at) => 'ab'[((at * at * (seed + 7)) % 31) & 1]);
    for (let one = 0; one < 200; one++) store.add(at(one, newTexts(one).join('')));
    const lookedAt = (query: string) => {
      const read = readLogQuery(query);
      if (!read.ok) throw new Error(read.reason);
      try {
        listLogs(store, { ...ALL, matches: read.matches }, PAGE);
      } catch (error) {
        return Number(/ended after (\d+) of/.exec(String(error))?.[1]);
      }
      return store.count;
    };
    // Programs of about 65 instructions.
    expect(lookedAt(`/[ab]*a[ab]{60}[^ab]/`)).toBeLessThan(25);
    expect(lookedAt(`/(a|b)*${'[bc]?'.repeat(25)}[^ab]/`)).toBeGreaterThan(50);
  });

  test('each search has a full budget', () => {
    const { store } = newStore();
    for (let one = 0; one < 10; one++) store.add(at(one, 'x'.repeat(10_000)));
    const read = readLogQuery('/x{200}y?$/');
    if (!read.ok) throw new Error(read.reason);
    for (let one = 0; one < 5; one++) expect(bodies(store, { matches: read.matches })).toHaveLength(10);
  });
});
