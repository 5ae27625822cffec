// The fields of groups of spans and of rows of traces.

import { expect, test } from 'vitest';
import { SpanStore } from '../../../../../src/core/telemetry/spans/span-store.ts';
import { groupSpans } from '../../../../../src/core/telemetry/spans/trace-groups.ts';
import { listTraces, type TraceQuery } from '../../../../../src/core/telemetry/spans/trace-list.ts';
import { START_NANO, spanRecord } from '../../../../support/telemetry/telemetry-records.ts';

const NOW_MS = START_NANO / 1e6 + 60_000;

function storeOf(...spans: readonly Parameters<typeof spanRecord>[0][]): SpanStore {
  const store = new SpanStore({ maxCount: 1_000, maxBytes: 1e8 }, () => {});
  for (const span of spans) store.add(spanRecord(span), 0);
  return store;
}

const later = (ms: number): number => START_NANO + ms * 1e6;

function groups(store: SpanStore) {
  const all = { sinceMs: undefined, limit: 10, includeInternal: false, labelAttribute: undefined };
  const parts = { parts: 0, partsSinceMs: undefined, withDurations: false };
  return groupSpans(store, { ...all, ...parts, attribute: 'of' }, NOW_MS);
}

test('[FUN-2] a group has the message of its newest error, and no message without one', () => {
  const failed = { attributes: [['of', 'a']] as [string, string][], status: 'error' as const };
  const store = storeOf(
    { ...failed, span_id: '1', start_time_unix_nano: later(2), status_description: 'the second' },
    { ...failed, span_id: '2', start_time_unix_nano: later(1), status_description: 'the first' },
    { attributes: [['of', 'b']], span_id: '3', start_time_unix_nano: later(3) },
  );
  const [a, b] = groups(store);
  expect(a).toMatchObject({ value: 'a', last_error: 'the second', last_error_ms: later(2) / 1e6 });
  expect(b).not.toHaveProperty('last_error');
});

test('[FUN-2] a long error message is cut and ends in an ellipsis', () => {
  const store = storeOf({ attributes: [['of', 'a']], status: 'error', status_description: 'x'.repeat(5_000) });
  expect(groups(store)[0]?.last_error).toMatch(/^x{1000}…$/);
});

test('[TRG-6] a trace found by one of its spans has the outcome of that span', () => {
  const query: TraceQuery = {
    ...{ traceIds: undefined, serviceName: undefined, name: undefined, status: undefined },
    ...{ minDurationMs: undefined, maxDurationMs: undefined, startTime: undefined, endTime: undefined },
    ...{ attributes: [['trigger.id', 't1']], excludeAttributes: [], searchAllSpans: true, includeInternal: true },
    ...{ sortBy: 'start_time', sortOrder: 'asc', offset: 0, limit: 100 },
  };
  const store = storeOf(
    { span_id: 'root', status: 'error', status_description: 'of something else' },
    {
      span_id: 'fired',
      parent_span_id: 'root',
      attributes: [['trigger.id', 't1']],
      start_time_unix_nano: later(5),
      end_time_unix_nano: later(7),
    },
    {
      span_id: 'ran',
      parent_span_id: 'fired',
      attributes: [['trigger.id', 't1']],
      start_time_unix_nano: later(6),
      end_time_unix_nano: later(7),
    },
  );
  const [row] = listTraces(store, query, NOW_MS).spans;
  expect(row).toMatchObject({ span_id: 'root', status: 'error' });
  expect(row?.found).toMatchObject({ span_id: 'fired', status: 'ok', start_time_unix_nano: later(5) });
  expect(row?.found?.duration_ms).toBeCloseTo(2);
  expect(row?.found).not.toHaveProperty('status_description');
});
