import { expect, test } from 'vitest';
import { runLoad } from '../../../../src/cli/commands/bench/load.ts';
import { SvcError } from '../../../../src/sdk/calls/errors.ts';

/** A clock that the operations move. */
function fakeClock() {
  let nowMs = 0;
  return { elapsedMs: () => nowMs, progress: () => {}, isStopped: () => false, pass: (ms: number) => (nowMs += ms) };
}

const PLAN = { clients: 1, messages: 4, durationMs: 1_000, warmupMs: 0, perSecond: undefined };

test('[CLI-32] without a rate, an operation is measured from its start', async () => {
  const clock = fakeClock();
  const { latencies, ops } = await runLoad(PLAN, clock, async () => {
    clock.pass(100);
    return { ops: 1 };
  });
  expect(ops).toBe(4);
  expect(latencies.summary().max_ms).toBeCloseTo(100, 0);
});

test('[CLI-32] with a rate, an operation that starts late is measured from its scheduled start', async () => {
  const clock = fakeClock();
  const { latencies } = await runLoad({ ...PLAN, perSecond: 100 }, clock, async () => {
    clock.pass(100);
    return { ops: 1 };
  });
  // Due at 0, 10, 20 and 30 ms; done at 100, 200, 300 and 400.
  expect(latencies.summary().max_ms).toBeCloseTo(370, 0);
  expect(latencies.summary().min_ms).toBeCloseTo(100, 0);
});

test('[CLI-32] a failed operation is counted by its code, not as an operation', async () => {
  const clock = fakeClock();
  const { errors, ops } = await runLoad(PLAN, clock, async () => {
    clock.pass(1);
    throw new SvcError('OVERLOADED', 'full');
  });
  expect({ errors, ops }).toEqual({ errors: { OVERLOADED: 4 }, ops: 0 });
});

test('[CLI-32] the warm-up is not counted', async () => {
  const clock = fakeClock();
  let calls = 0;
  const { ops } = await runLoad({ ...PLAN, warmupMs: 50 }, clock, async () => {
    calls++;
    clock.pass(10);
    return { ops: 1 };
  });
  expect({ ops, calls }).toEqual({ ops: 4, calls: 9 });
});

test('[CLI-32] progress is reported every second, with failed operations and multiple deliveries counted', async () => {
  const clock = fakeClock();
  const reports: [ops: number, share: number][] = [];
  const progress = (ops: number, share: number) => void reports.push([ops, share]);
  let calls = 0;
  await runLoad({ ...PLAN, messages: 8 }, { ...clock, progress }, async () => {
    clock.pass(500);
    if (++calls % 2 === 0) throw new SvcError('OVERLOADED', 'full');
    return { ops: 100 };
  });
  expect(reports).toEqual([
    [100, 0.25],
    [200, 0.5],
    [300, 0.75],
    [400, 1],
  ]);
});
