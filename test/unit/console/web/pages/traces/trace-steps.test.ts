import { describe, expect, test } from 'vitest';
import { spanWords } from '../../../../../../src/console/web/pages/traces/logic/span-words.ts';
import { buildTrace } from '../../../../../../src/console/web/pages/traces/logic/trace-columns.ts';
import {
  axisMarks,
  findGaps,
  realMs,
  shownMs,
  withoutGaps,
} from '../../../../../../src/console/web/pages/traces/logic/trace-gaps.ts';
import { mergeSteps } from '../../../../../../src/console/web/pages/traces/logic/trace-steps.ts';
import { forEachSeed } from '../../../../../support/random/seeded-random.ts';
import { randomTrace, sketchTrace, TRACE_START_NS } from '../../../../../support/telemetry/sample-trace.ts';

const shop = sketchTrace(
  { id: 'call', at: [0, 10], name: 'call shop::order', service_name: 'svc' },
  { id: 'run', parent: 'call', at: [2, 9], name: 'execute shop::order', service_name: 'shop', status: 'error' },
  { id: 'next', parent: 'run', at: [3, 5], name: 'call mail::send', service_name: 'svc' },
);

describe('[TRC-21] one row for a step', () => {
  test('a call and its handler are one row of the worker, with both times', () => {
    const { spans, inner, mergedInto } = mergeSteps(shop);
    const { columns } = buildTrace(spans, TRACE_START_NS, inner);
    expect(spans.map(({ span_id: id, parent_span_id: parent }) => [id.slice(-4), parent?.slice(-4)])).toEqual([
      [shop[0]?.span_id.slice(-4), undefined],
      [shop[2]?.span_id.slice(-4), shop[0]?.span_id.slice(-4)],
    ]);
    expect(spans[0]).toMatchObject({ service_name: 'shop', status: 'error', name: 'call shop::order' });
    expect([columns.innerFromMs[0], columns.innerToMs[0], columns.endMs[0]]).toEqual([2, 9, 10]);
    expect(columns.innerFromMs[1]).toBeNaN();
    expect(mergedInto.get(shop[1]?.span_id ?? '')).toBe(shop[0]?.span_id);
  });

  test('a handler of another function, or without its call, stays a row', () => {
    const trace = sketchTrace(
      { id: 'call', at: [0, 10], name: 'call a' },
      { id: 'other', parent: 'call', at: [2, 9], name: 'execute b' },
      { id: 'alone', parent: 'gone', at: [2, 9], name: 'execute a' },
    );
    expect(mergeSteps(trace).spans).toHaveLength(3);
  });

  test('names are words of the product', () => {
    expect(spanWords('call mail::send', true)).toBe('mail::send');
    expect(spanWords('call mail::send', false)).toBe('Call mail::send');
    expect(spanWords('execute mail::send', false)).toBe('Run mail::send');
    expect(spanWords('fn_queue mail', false)).toBe('Job of mail');
    expect(spanWords('POST /orders', false)).toBe('POST /orders');
  });
});

describe('[TRC-22] long pauses', () => {
  const retried = buildTrace(
    sketchTrace(
      { id: 'first', at: [0, 20] },
      { id: 'second', at: [1_020, 1_040] },
      { id: 'third', at: [1_045, 1_060] },
    ),
    TRACE_START_NS,
  ).columns;
  const gaps = findGaps(retried);

  test('a pause longer than half of the work takes little of the axis, and a shorter one stays', () => {
    expect(gaps).toHaveLength(1);
    expect(gaps[0]).toMatchObject({ fromMs: 20, toMs: 1_020, shownFromMs: 20 });
    const shown = withoutGaps(retried, gaps);
    expect(shown.durationMs).toBeLessThan(70);
    expect((shown.endMs[1] ?? 0) - (shown.startMs[1] ?? 0)).toBeCloseTo(20);
    expect((shown.startMs[2] ?? 0) - (shown.endMs[1] ?? 0)).toBeCloseTo(5);
  });

  test('the marks of the axis are round moments of the trace, on both sides of the pause', () => {
    const marks = axisMarks({ fromMs: 0, toMs: shownMs(gaps, retried.durationMs), widthPx: 900 }, gaps);
    expect(marks.some(({ realMs: ms }) => ms < 20)).toBe(true);
    expect(marks.some(({ realMs: ms }) => ms > 1_020)).toBe(true);
    for (const { atMs, realMs: ms } of marks) expect(realMs(gaps, atMs)).toBeCloseTo(ms);
  });

  test('places on the axis keep the order of moments, and lead back to them', () => {
    forEachSeed(50, (random) => {
      const { columns } = buildTrace(randomTrace(random, random.between(1, 12)), TRACE_START_NS);
      const found = findGaps(columns);
      let last = Number.NEGATIVE_INFINITY;
      for (let share = 0; share <= 1; share += 0.05) {
        const ms = share * columns.durationMs;
        const shown = shownMs(found, ms);
        expect(shown).toBeGreaterThanOrEqual(last);
        expect(realMs(found, shown)).toBeCloseTo(ms, 3);
        last = shown;
      }
    });
  });
});
