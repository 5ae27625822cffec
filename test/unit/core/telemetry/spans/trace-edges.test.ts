import { expect, test } from 'vitest';
import { SpanStore } from '../../../../../src/core/telemetry/spans/span-store.ts';
import { edgesOf } from '../../../../../src/core/telemetry/spans/trace-edges.ts';
import { START_NANO, spanRecord } from '../../../../support/telemetry/telemetry-records.ts';

const NOW_MS = START_NANO / 1e6 + 60_000;
const EVERYTHING = { startTime: undefined, endTime: undefined, spansMax: 1_000 };

function storeOf(...spans: readonly Parameters<typeof spanRecord>[0][]): SpanStore {
  const store = new SpanStore({ maxCount: 1_000, maxBytes: 1e8 }, () => {});
  for (const span of spans) store.add(spanRecord(span), 0);
  return store;
}

const scope: [string, string][] = [['svc.state.scope', 'orders']];

test('[FLO-2] edges go from the nearest function above to functions, queues, states and streams', () => {
  const store = storeOf(
    { trace_id: 't', span_id: 'a', name: 'call api::post', parent_span_id: null },
    { trace_id: 't', span_id: 'b', name: 'execute api::post', parent_span_id: 'a' },
    { trace_id: 't', span_id: 'c', name: 'call billing::charge', parent_span_id: 'b', status: 'error' },
    { trace_id: 't', span_id: 'd', name: 'enqueue mail::send → mail', parent_span_id: 'b' },
    { trace_id: 't', span_id: 'e', name: 'call state::set', parent_span_id: 'b', attributes: scope },
    { trace_id: 't', span_id: 'f', name: 'call stream::set', parent_span_id: 'c' },
    { trace_id: 'u', span_id: 'a', name: 'call api::post', parent_span_id: null },
    { trace_id: 'u', span_id: 'b', name: 'call billing::charge', parent_span_id: 'a' },
  );
  const { edges } = edgesOf(store, EVERYTHING, NOW_MS);
  expect(edges.map(({ from, to, calls, errors }) => [from, to.kind, to.name, calls, errors])).toEqual(
    expect.arrayContaining([
      ['api::post', 'function', 'billing::charge', 2, 1],
      ['api::post', 'queue', 'mail', 1, 0],
      ['api::post', 'state', 'orders', 1, 0],
      ['billing::charge', 'stream', 'streams', 1, 0],
    ]),
  );
  expect(edges).toHaveLength(4);
});

test("[FLO-2] spans that are each other's parents end the search, and a missing parent gives no edge", () => {
  const store = storeOf(
    { trace_id: 't', span_id: 'a', name: 'one', parent_span_id: 'b' },
    { trace_id: 't', span_id: 'b', name: 'two', parent_span_id: 'a' },
    { trace_id: 't', span_id: 'c', name: 'call api::post', parent_span_id: 'a' },
    { trace_id: 't', span_id: 'd', name: 'call api::post', parent_span_id: 'lost' },
  );
  expect(edgesOf(store, EVERYTHING, NOW_MS).edges).toEqual([]);
});

test('[FLO-2] over the limit of traces, the newest are used, and the start of their range is reported', () => {
  const late = START_NANO + 5_000 * 1e6;
  const store = storeOf(
    { trace_id: 't', span_id: 'a', name: 'call old', parent_span_id: null },
    { trace_id: 't', span_id: 'b', name: 'call old::inner', parent_span_id: 'a' },
    { trace_id: 'u', span_id: 'a', name: 'call new', parent_span_id: null, start_time_unix_nano: late },
    { trace_id: 'u', span_id: 'b', name: 'call new::inner', parent_span_id: 'a', start_time_unix_nano: late },
  );
  const { edges, since_ms: sinceMs } = edgesOf(store, { ...EVERYTHING, spansMax: 2 }, NOW_MS);
  expect(edges.map(({ from }) => from)).toEqual(['new']);
  expect(sinceMs).toBe(late / 1e6);
});
