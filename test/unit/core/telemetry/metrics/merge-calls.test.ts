// Counts of several engines, compared with those of one that had all the calls.

import { expect, test } from 'vitest';
import { CallHistory } from '../../../../../src/core/telemetry/metrics/call-history.ts';
import { CallStats } from '../../../../../src/core/telemetry/metrics/call-stats.ts';
import { mergedCalls, mergedJobs } from '../../../../../src/core/telemetry/metrics/merge-calls.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';

const START_MS = 1_700_000_000_000;

interface Engine {
  readonly stats: CallStats;
  readonly history: CallHistory;
}

const newEngine = (startedMs = START_MS): Engine => ({ stats: new CallStats(), history: new CallHistory(startedMs) });

function flush({ stats, history }: Engine, nowMs: number): void {
  const calls = stats.take();
  history.add({ calls, jobs: calls, edges: [], spans: [] }, nowMs);
}

test('[CL30] the counts of all engines are those of one engine that had all the calls', () => {
  forEachSeed(30, (random) => {
    const engines = [newEngine(), newEngine(), newEngine()];
    const one = newEngine();
    let nowMs = START_MS;
    for (let at = 0; at < 100; at++) {
      nowMs += random.bits() % 20_000;
      const engine = engines[random.bits() % 3];
      for (const { stats } of engine === undefined ? [one] : [engine, one]) {
        // The same call at both.
        const [name, durationMs] = [`f${at % 5}`, (at * 7919) % 40_000];
        stats.ended(name, durationMs, at % 4 === 0 ? 'failed' : undefined);
      }
      for (const each of [...engines, one]) flush(each, nowMs);
    }
    const query = { startMs: nowMs - 600_000, endMs: nowMs, points: 10, withHistograms: true };
    const [first, ...rest] = engines.map(({ history }) => history.answer(query));
    if (first === undefined) throw new Error('There are three engines');
    const byName = <Row extends { function_id: string }>(rows: readonly Row[]) =>
      rows.toSorted((a, b) => (a.function_id < b.function_id ? -1 : 1));
    const merged = mergedCalls([first, ...rest]);
    const whole = one.history.answer({ ...query, withHistograms: false });
    expect(merged.total).toEqual(whole.total);
    expect(byName(merged.functions)).toEqual(byName(whole.functions));
    const [jobs, ...otherJobs] = engines.map(({ history }) => history.jobs({ ...query, queue: undefined }));
    if (jobs === undefined) throw new Error('There are three engines');
    const count = ({ queues }: ReturnType<typeof mergedJobs>) =>
      queues.reduce((sum, { attempts, failed }) => sum + attempts + 1_000 * failed, 0);
    const wholeJobs = one.history.jobs({ ...query, withHistograms: false, queue: undefined });
    expect(count(mergedJobs([jobs, ...otherJobs]))).toBe(count(wholeJobs));
  });
});

test('[CL30] an engine that was started later answers in finer steps, and the coarser ones count', () => {
  const nowMs = START_MS + 3 * 3_600_000;
  const [old, young] = [newEngine(), newEngine(nowMs - 60_000)];
  old.history.expire(nowMs);
  for (const engine of [old, young]) {
    engine.stats.ended('f', 10, undefined);
    flush(engine, nowMs - 30_000);
  }
  const query = { startMs: nowMs - 2 * 3_600_000, endMs: nowMs, points: 12, withHistograms: true };
  const answers = [old.history.answer(query), young.history.answer(query)] as const;
  expect(answers[1].step_ms).toBeLessThan(answers[0].step_ms + 1);
  const { total, step_ms: stepMs, since_ms: sinceMs } = mergedCalls(answers);
  expect(stepMs).toBe(answers[0].step_ms);
  expect(total.calls).toBe(2);
  expect(total.points.reduce((sum, { calls }) => sum + calls, 0)).toBe(2);
  // The old engine has counted all the time.
  expect(sinceMs).toBeNull();
});
