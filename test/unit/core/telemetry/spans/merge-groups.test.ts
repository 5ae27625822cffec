// Groups of spans of several engines are those that one engine with all the spans would list.

import { expect, test } from 'vitest';
import { NO_DURATIONS, summaryOf } from '../../../../../src/core/telemetry/metrics/durations.ts';
import { mergedGroups } from '../../../../../src/core/telemetry/spans/merge-groups.ts';
import { SpanStore } from '../../../../../src/core/telemetry/spans/span-store.ts';
import { groupSpans, type SpanGroup } from '../../../../../src/core/telemetry/spans/trace-groups.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';
import { START_NANO, spanRecord } from '../../../../support/telemetry/telemetry-records.ts';

const SINCE_MS = START_NANO / 1e6;
const NOW_MS = SINCE_MS + 60_000;
const ALL = 1_000;
const COUNT = 60;

type Span = Parameters<typeof spanRecord>[0];

function groupsOf(spans: readonly Span[], withDurations: boolean): SpanGroup[] {
  const store = new SpanStore({ maxCount: 10_000, maxBytes: 1e8 }, () => {});
  for (const span of spans) store.add(spanRecord(span), 0);
  const query = { attribute: 'of', limit: ALL, includeInternal: false, labelAttribute: 'label', parts: 6 };
  return groupSpans(store, { ...query, sinceMs: SINCE_MS, partsSinceMs: SINCE_MS, withDurations }, NOW_MS);
}

/** Sums of fractions differ by their order. */
const rounded = (groups: readonly SpanGroup[]) =>
  JSON.parse(JSON.stringify(groups), (_key, value) => (typeof value === 'number' ? Number(value.toFixed(6)) : value));

test('[CL30] counts, times, errors and parts of groups are those of all engines', () => {
  forEachSeed(50, (random) => {
    const engines = Array.from({ length: 3 }, (): Span[] => []);
    for (let n = 0; n < COUNT; n++) {
      // No two end in one millisecond: of two such errors either may be the last.
      const start = START_NANO + (random.below(800) * COUNT + n) * 1e6;
      const isError = random.below(4) === 0;
      engines[random.below(3)]?.push({
        trace_id: (n + 1).toString(16).padStart(32, '0'),
        span_id: (n + 1).toString(16).padStart(16, '0'),
        attributes: [['of', random.pick(['a', 'b', 'c'])]],
        start_time_unix_nano: start,
        end_time_unix_nano: start + random.below(15) * COUNT * 1e6,
        ...(isError && { status: 'error', status_description: `error ${n}` }),
      });
    }
    const merged = mergedGroups(
      engines.map((spans) => groupsOf(spans, true)),
      ALL,
    );
    const whole = groupsOf(engines.flat(), true);
    const expected = whole.map(({ durations = NO_DURATIONS, ...group }) => {
      const isOfOne = engines.filter((spans) => groupsOf(spans, false).some(({ value }) => value === group.value));
      if (isOfOne.length === 1) return group;
      const { p50_duration_ms, p95_duration_ms } = summaryOf(durations);
      return { ...group, p50_duration_ms, p95_duration_ms };
    });
    expect(rounded(merged)).toEqual(rounded(expected));
  });
});

test('[CL30] an engine that reports no durations is counted, and the larger group has the percentiles', () => {
  const one = { attributes: [['of', 'a']] as [string, string][], span_id: '1' };
  const [of, ...none] = [groupsOf([one, { ...one, span_id: '2' }], true), groupsOf([{ ...one, span_id: '3' }], false)];
  const [merged] = mergedGroups([of, ...none], ALL);
  expect(merged).toMatchObject({ value: 'a', span_count: 3, p95_duration_ms: of[0]?.p95_duration_ms });
});

test('[CL30] the limit counts after the merge', () => {
  const span = (of: string, span_id: string): Span => ({ attributes: [['of', of]], span_id });
  const one = groupsOf([span('a', '1'), span('a', '2'), span('b', '3')], true);
  const other = groupsOf([span('b', '4'), span('b', '5')], true);
  expect(mergedGroups([one, other], 1)).toMatchObject([{ value: 'b', span_count: 3 }]);
});
