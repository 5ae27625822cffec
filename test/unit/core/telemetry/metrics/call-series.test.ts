import { expect, test } from 'vitest';
import { CallSeries } from '../../../../../src/core/telemetry/metrics/call-series.ts';
import { CallStats } from '../../../../../src/core/telemetry/metrics/call-stats.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';

const START_MS = 1_800_000_000_000;
const HOUR_MS = 3_600_000;

const calls = (ok: number, error = 0) => ({ ok, error, deferred: 0 });

test('[O8] every call of a window is counted in exactly one point, for any window and any times', () => {
  forEachSeed(50, (random) => {
    const series = new CallSeries(START_MS);
    let nowMs = START_MS;
    const counted: { atMs: number; ok: number; error: number }[] = [];
    for (let at = 0; at < 200; at++) {
      nowMs += random.bits() % 60_000;
      const one = { atMs: nowMs, ok: random.bits() % 10, error: random.bits() % 3 };
      series.add('f', calls(one.ok, one.error), nowMs);
      series.expire(nowMs);
      counted.push(one);
    }
    const window = series.window(nowMs - (random.bits() % (2 * HOUR_MS)), nowMs, 1 + (random.bits() % 100));
    const inside = counted.filter(({ atMs }) => atMs >= window.start_ms && atMs < window.end_ms);
    const sum = inside.reduce((total, { ok, error }) => total + ok + error, 0);
    const [row] = series.rows(window, { withPoints: true });
    expect(row?.calls ?? 0).toBe(sum);
    expect((row?.points ?? []).reduce((total, point) => total + point.calls, 0)).toBe(sum);
    expect(series.total(window).errors).toBe(inside.reduce((total, { error }) => total + error, 0));
    expect((window.end_ms - window.start_ms) % window.step_ms).toBe(0);
  });
});

test('[O8] sums cover all of the window, however short it is', () => {
  forEachSeed(50, (random) => {
    const series = new CallSeries(START_MS);
    const [calledMs, laterMs] = [START_MS + (random.bits() % 20_000), random.bits() % 8_000];
    series.add('f', calls(1), calledMs);
    expect(series.total(series.window(calledMs, calledMs + laterMs, 0)).calls).toBe(1);
  });
});

test('[O8] a window is answered from the finest level that reaches back far enough', () => {
  const series = new CallSeries(START_MS);
  const nowMs = START_MS + 100 * HOUR_MS;
  series.expire(nowMs);
  const stepOf = (agoMs: number) => series.window(nowMs - agoMs, nowMs, 1_000_000).step_ms;
  expect([5 * 60_000, HOUR_MS / 2, 5 * HOUR_MS, 24 * HOUR_MS].map(stepOf)).toEqual([5_000, 60_000, 300_000, HOUR_MS]);
});

test('[O8] a window that begins before counting did, names the time since when there is data', () => {
  const series = new CallSeries(START_MS);
  expect(series.window(START_MS - HOUR_MS, START_MS + 60_000, 60).since_ms).toBe(START_MS);
  expect(series.window(START_MS + 60_000, START_MS + 120_000, 60).since_ms).toBeNull();
});

test('[O8] cells beyond the limit drop the oldest bucket of the fullest level, which then reaches back less far', () => {
  const series = new CallSeries(START_MS, 500);
  for (let at = 0; at < 1_000; at++) series.add(`f${at % 50}`, calls(1), START_MS + at * 1_000);
  const recent = series.window(START_MS + 980_000, START_MS + 999_999, 4);
  expect(series.total(recent).calls).toBe(20);
  const whole = series.window(START_MS, START_MS + 1_000_000, 10);
  expect(whole.step_ms).toBeGreaterThan(5_000);
});

test('[O8] ids that a sender makes up are counted up to a limit in each bucket', () => {
  const series = new CallSeries(START_MS);
  for (let at = 0; at < 20_000; at++) series.add(`made up ${at}`, calls(1), START_MS);
  expect(series.total(series.window(START_MS, START_MS + 4_999, 1)).calls).toBe(8_192);
});

test('[O8] percentiles and times are those of the calls of the window', () => {
  const stats = new CallStats();
  for (let at = 0; at < 100; at++) stats.ended('f', at < 90 ? 4 : 400, at < 90 ? undefined : 'slow');
  const [counts] = stats.take();
  const series = new CallSeries(START_MS);
  if (counts !== undefined) series.add('f', counts, START_MS + 1_000);
  const [row] = series.rows(series.window(START_MS, START_MS + 4_999, 1), { withPoints: false });
  expect(row).toMatchObject({ calls: 100, errors: 10, total_ms: 90 * 4 + 10 * 400, max_ms: 400, points: [] });
  expect(row?.p50_ms).toBeLessThanOrEqual(5);
  expect(row?.p99_ms).toBeGreaterThan(250);
});
