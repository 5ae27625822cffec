import { describe, expect, test } from 'vitest';
import { recordBytes } from '../../../../../src/core/telemetry/records/records.ts';
import { SpanStore } from '../../../../../src/core/telemetry/spans/span-store.ts';
import { listTraces, selectPage, type TraceQuery } from '../../../../../src/core/telemetry/spans/trace-list.ts';
import { buildTree } from '../../../../../src/core/telemetry/spans/trace-tree.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';
import { START_NANO, spanRecord } from '../../../../support/telemetry/telemetry-records.ts';

const MIB = 1024 * 1024;
const NOW_MS = START_NANO / 1e6 + 60_000;

const ALL: TraceQuery = {
  ...{ traceIds: undefined, serviceName: undefined, name: undefined, status: undefined },
  ...{ minDurationMs: undefined, maxDurationMs: undefined, startTime: undefined, endTime: undefined },
  ...{ attributes: [], excludeAttributes: [], searchAllSpans: false, includeInternal: false },
  ...{ sortBy: 'start_time', sortOrder: 'asc', offset: 0, limit: 100 },
};

function newStore(limits: { maxCount?: number; maxBytes?: number } = {}) {
  let dropped = 0;
  const store = new SpanStore({ maxCount: 1_000, maxBytes: 64 * MIB, ...limits }, (count) => {
    dropped += count;
  });
  return { store, dropped: () => dropped };
}

/** A trace of one call. */
const trace = (trace_id: string, functionId: string, ms: number, status: 'ok' | 'error' = 'ok') =>
  spanRecord({ trace_id, name: `call ${functionId}`, status, end_time_unix_nano: START_NANO + ms * 1e6 });

const list = (store: SpanStore, query: Partial<TraceQuery> = {}) => listTraces(store, { ...ALL, ...query }, NOW_MS);

describe('a store of spans', () => {
  test('[O1] keeps its limits of spans and bytes, and counts dropped spans', () => {
    forEachSeed(20, (random) => {
      const limits = { maxCount: 1 + (random.bits() % 20), maxBytes: 2_000 + (random.bits() % 20_000) };
      const { store, dropped } = newStore(limits);
      let added = 0;
      for (let at = 0; at < 200; at++) {
        const span = spanRecord({
          trace_id: `t${random.bits() % 5}`,
          span_id: `s${at}`,
          name: 'n'.repeat(random.bits() % 500),
        });
        store.add(span, NOW_MS);
        added++;
        expect(store.count).toBeLessThanOrEqual(limits.maxCount);
        expect(store.bytes).toBeLessThanOrEqual(limits.maxBytes);
      }
      const held = [...store.traces()].flatMap((trace) => [...trace.spans.values()]);
      expect(held).toHaveLength(store.count);
      expect(store.bytes).toBe(held.reduce((sum, { record }) => sum + recordBytes(record), 0));
      expect(store.count + dropped()).toBe(added);
    });
  });

  test('[O7] drops successful traces first, and keeps those with errors and the slowest of each function', () => {
    const { store } = newStore({ maxCount: 20 });
    const held = () => [...store.traces()].map(({ id }) => id).sort();
    store.add(trace('failed', 'a', 5, 'error'), 1);
    store.add(trace('slow', 'a', 900), 2);
    store.add(trace('slow too', 'a', 800), 3);
    for (let at = 0; at < 100; at++) store.add(trace(`quick ${at}`, 'a', 10), 10 + at);
    store.add(trace('of b', 'b', 1), 200);
    expect(held()).toEqual(expect.arrayContaining(['failed', 'slow', 'slow too', 'of b', 'quick 99']));
    expect(held()).not.toContain('quick 50');
    expect(store.wholeSinceMs).toBe(10 + 99 - 15);
    expect(store.keptSinceMs).toBe(1);
    store.add(trace('slower', 'a', 1_000), 300);
    store.add(trace('slowest', 'a', 2_000), 301);
    for (let at = 0; at < 100; at++) store.add(trace(`later ${at}`, 'a', 10), 400 + at);
    expect(held()).toEqual(expect.arrayContaining(['failed', 'slow', 'slower', 'slowest']));
    expect(held()).not.toContain('slow too');
  });

  test('[O7] says after it was cleared that traces are whole since then', () => {
    const { store } = newStore();
    store.add(trace('a', 'a', 5), 1);
    store.clear(50);
    expect([store.count, store.traceCount, store.wholeSinceMs]).toEqual([0, 0, 50]);
  });

  test('[O7] keeps no trace of the engine itself longer than others', () => {
    const { store } = newStore({ maxCount: 5 });
    const internal: [string, string][] = [['function_id', 'engine::functions::list']];
    store.add({ ...trace('internal', 'engine::functions::list', 900, 'error'), attributes: internal }, 1);
    for (let at = 0; at < 10; at++) store.add(spanRecord({ trace_id: `fine ${at}`, name: 'GET /' }), 10 + at);
    expect(store.trace('internal')).toBeUndefined();
  });

  test('[O7] keeps the newest errors in half of its room, so that new traces always have the other half', () => {
    const { store } = newStore({ maxCount: 20 });
    for (let at = 0; at < 100; at++) store.add(trace(`failed ${at}`, 'a', 5, 'error'), at);
    for (let at = 0; at < 12; at++) store.add(spanRecord({ trace_id: `fine ${at}`, name: 'GET /' }), 100 + at);
    const held = [...store.traces()].map(({ id }) => id);
    expect(held.filter((id) => id.startsWith('failed')).sort()).toEqual(
      Array.from({ length: 10 }, (_, at) => `failed ${90 + at}`),
    );
    expect(held).toContain('fine 11');
  });

  test('[O7] drops a trace as a whole, the one that was quiet longest', () => {
    const { store, dropped } = newStore({ maxCount: 6 });
    for (const [at, id] of ['old', 'active', 'new'].entries()) {
      store.add(spanRecord({ trace_id: id, span_id: 'root', name: 'GET /' }), at);
      store.add(spanRecord({ trace_id: id, span_id: 'child', parent_span_id: 'root', name: 'GET /' }), at);
    }
    store.add(spanRecord({ trace_id: 'old', span_id: 'late', parent_span_id: 'root', name: 'GET /' }), 10);
    expect([...store.traces()].map(({ id, spans }) => [id, spans.size])).toEqual([
      ['old', 3],
      ['new', 2],
    ]);
    expect(dropped()).toBe(2);
    expect(store.wholeSinceMs).toBe(1);
  });

  test('[O7] a trace that takes more than half of the room loses its oldest spans, and no other trace leaves', () => {
    const { store, dropped } = newStore({ maxCount: 20 });
    for (let at = 0; at < 8; at++) store.add(trace(`other ${at}`, 'a', 5), 1);
    for (let at = 0; at < 100; at++) store.add(spanRecord({ trace_id: 'endless', span_id: `${at}` }), 2 + at);
    expect([...(store.trace('endless')?.spans.keys() ?? [])]).toEqual(
      Array.from({ length: 12 }, (_, at) => `${88 + at}`),
    );
    expect(dropped()).toBe(88);
    expect(store.traceCount).toBe(9);
  });

  test('replaces a pending span by its end, and an ended span by nothing', () => {
    const { store } = newStore();
    store.add(spanRecord({ pending: true, end_time_unix_nano: 0, status: 'unset' }), NOW_MS);
    expect(list(store).spans[0]).toMatchObject({ trace_status: 'pending', span_count: 1, duration_ms: 60_000 });
    store.add(spanRecord({ status: 'error' }), NOW_MS);
    store.add(spanRecord({ pending: true, end_time_unix_nano: 0 }), NOW_MS);
    expect(list(store).spans[0]).toMatchObject({ trace_status: 'error', has_error: true, error_count: 1 });
    expect(store.count).toBe(1);
  });

  test('shows a trace without a root by its first span', () => {
    const { store } = newStore();
    const later = { span_id: 'b', parent_span_id: 'x', start_time_unix_nano: START_NANO + 5e6 };
    store.add(spanRecord({ ...later, service_name: 'two' }), NOW_MS);
    store.add(spanRecord({ span_id: 'a', parent_span_id: 'x', pending: true, service_name: 'one' }), NOW_MS);
    expect(list(store).spans[0]).toMatchObject({ span_id: 'a', services: ['one', 'two'], trace_status: 'pending' });
    store.add(spanRecord({ span_id: 'x', start_time_unix_nano: START_NANO + 9e6 }), NOW_MS);
    expect(list(store).spans[0]).toMatchObject({ span_id: 'x', trace_status: 'ok', span_count: 3 });
  });

  test('[TRC-1] shows a trace by the span whose parent is elsewhere, although a span below it has an earlier start', () => {
    const { store } = newStore();
    const early = { start_time_unix_nano: START_NANO - 1e6, end_time_unix_nano: START_NANO };
    store.add(spanRecord({ span_id: 'worker', parent_span_id: 'engine', ...early }), NOW_MS);
    store.add(spanRecord({ span_id: 'engine', parent_span_id: 'of a caller outside' }), NOW_MS);
    expect(list(store).spans[0]).toMatchObject({ span_id: 'engine', duration_ms: 12 });
  });
});

describe('lists of traces', () => {
  test('search all spans of a trace if asked, and leave out internal traces', () => {
    const { store } = newStore();
    store.add(spanRecord({ attributes: [['function_id', 'engine::functions::list']] }), NOW_MS);
    store.add(spanRecord({ trace_id: 'b', span_id: 'root', name: 'outer' }), NOW_MS);
    store.add(
      spanRecord({ trace_id: 'b', span_id: 'in', parent_span_id: 'root', name: 'inner', attributes: [['k', 'v']] }),
      NOW_MS,
    );
    expect(list(store).total).toBe(1);
    expect(list(store, { includeInternal: true }).total).toBe(2);
    expect(list(store, { name: 'inner' }).total).toBe(0);
    expect(list(store, { name: 'INNER', attributes: [['k', 'v']], searchAllSpans: true }).total).toBe(1);
    expect(list(store, { name: 'outer', attributes: [['k', 'v']], searchAllSpans: true }).total).toBe(0);
  });

  test('contain the traces that overlap the time range', () => {
    const { store } = newStore();
    store.add(spanRecord(), NOW_MS);
    const startMs = START_NANO / 1e6;
    expect(list(store, { startTime: startMs + 12, endTime: startMs + 100 }).total).toBe(1);
    expect(list(store, { startTime: startMs + 13 }).total).toBe(0);
    expect(list(store, { endTime: startMs - 1 }).total).toBe(0);
  });

  test('have the pages of a sorted list, for any order and equal items', () => {
    forEachSeed(30, (random) => {
      const items = Array.from({ length: random.bits() % 300 }, () => random.bits() % 50);
      const sorted = [...items].sort((a, b) => a - b);
      const offset = random.bits() % 320;
      const limit = random.bits() % 40;
      const page = selectPage([...items], (a, b) => a - b, offset, limit);
      expect(page).toEqual(sorted.slice(offset, offset + limit));
    });
  });
});

describe('trees', () => {
  const options = { maxDepth: 48, parent: undefined, duration: () => 0 };

  test('hold every span exactly once, whatever its parent is', () => {
    forEachSeed(50, (random) => {
      const ids = Array.from({ length: 1 + (random.bits() % 40) }, (_, at) => `s${at}`);
      const spans = ids.map((span_id) => {
        const parent = random.bits() % 4 === 0 ? null : `s${random.bits() % (ids.length + 3)}`;
        return spanRecord({ span_id, parent_span_id: parent, start_time_unix_nano: random.bits() });
      });
      const seen: string[] = [];
      const visit = (nodes: ReturnType<typeof buildTree>): void => {
        for (const node of nodes) {
          seen.push(node.span_id);
          visit([...node.children]);
        }
      };
      visit(buildTree(spans, options));
      expect(seen.sort()).toEqual([...ids].sort());
    });
  });

  test('are cut at the maximum depth, with the number of hidden spans', () => {
    const spans = ['a', 'b', 'c', 'd'].map((span_id, at, all) =>
      spanRecord({ span_id, parent_span_id: all[at - 1] ?? null }),
    );
    const [root] = buildTree(spans, { ...options, maxDepth: 1 });
    expect(root?.children[0]).toMatchObject({ span_id: 'b', children: [], hidden_count: 2 });
    const [below] = buildTree(spans, { ...options, parent: 'c' });
    expect(below?.children).toMatchObject([{ span_id: 'd' }]);
  });
});
