import { describe, expect, test } from 'vitest';
import { type Candidates, selectWorker } from '../../../../src/core/calls/select-worker.ts';
import { type NumberedExecutor, newExecutor } from '../../../support/engine/numbered-executor.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

describe('fewest calls in flight', () => {
  test('[I6] Idle workers take turns', () => {
    const candidates = candidatesOf(3);
    const chosen = Array.from({ length: 7 }, () => selectWorker(candidates, 'least_in_flight')?.number);
    expect(chosen).toEqual([0, 1, 2, 0, 1, 2, 0]);
  });

  test('[I6] Workers with equal numbers of calls take turns', () => {
    const candidates = candidatesOf(3, { inFlight: 2 });
    const chosen = Array.from({ length: 4 }, () => selectWorker(candidates, 'least_in_flight')?.number);
    expect(chosen).toEqual([0, 1, 2, 0]);
  });

  test('[I6] At any load, the chosen worker has the fewest calls', () => {
    forEachSeed(200, (random) => {
      const executors = Array.from({ length: random.between(1, 8) }, (_, number) => ({
        number,
        inFlight: random.below(4),
        inFlightMax: random.between(1, 4),
        isAccepting: random.chance(80),
      }));
      const candidates: Candidates<NumberedExecutor> = { executors, next: random.below(executors.length) };
      const usable = executors.filter((one) => one.isAccepting && one.inFlight < one.inFlightMax);
      const fewest = Math.min(...usable.map((one) => one.inFlight));
      const chosen = selectWorker(candidates, 'least_in_flight');
      if (usable.length === 0) expect(chosen).toBeUndefined();
      else expect(usable.filter((one) => one.inFlight === fewest)).toContain(chosen);
    });
  });

  test('[I6] Calls that never end spread evenly, to within one call', () => {
    forEachSeed(20, (random) => {
      const executors = Array.from({ length: random.between(2, 9) }, (_, number) => newExecutor(number));
      const candidates: Candidates<NumberedExecutor> = { executors, next: 0 };
      for (let call = 0; call < 100; call++) {
        const chosen = selectWorker(candidates, 'least_in_flight');
        if (chosen !== undefined) chosen.inFlight++;
      }
      const loads = executors.map((one) => one.inFlight);
      expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1);
      expect(loads.reduce((sum, load) => sum + load, 0)).toBe(100);
    });
  });

  test('[I6] A worker that leaves does not make the rotation skip or stop', () => {
    const executors = [0, 1, 2].map((number) => newExecutor(number));
    const candidates: Candidates<NumberedExecutor> = { executors, next: 0 };
    selectWorker(candidates, 'least_in_flight');
    selectWorker(candidates, 'least_in_flight');
    executors.pop();
    const chosen = Array.from({ length: 4 }, () => selectWorker(candidates, 'least_in_flight')?.number);
    expect(chosen).toEqual([0, 1, 0, 1]);
  });
});

describe('workers that cannot take a call', () => {
  test.each(['least_in_flight', 'newest', 'reject_duplicates'] as const)(
    '[I2] With %s no worker is chosen if the only worker is closing or full',
    (balance) => {
      expect(selectWorker(candidatesOf(1, { isAccepting: false }), balance)).toBeUndefined();
      expect(selectWorker(candidatesOf(1, { inFlight: 5, inFlightMax: 5 }), balance)).toBeUndefined();
      expect(selectWorker(candidatesOf(1, { inFlight: 4, inFlightMax: 5 }), balance)?.number).toBe(0);
      expect(selectWorker(candidatesOf(0), balance)).toBeUndefined();
    },
  );

  test('[I2] A closing worker is skipped, however few calls it has', () => {
    const executors = [newExecutor(0, { isAccepting: false }), newExecutor(1, { inFlight: 9 })];
    expect(selectWorker({ executors, next: 0 }, 'least_in_flight')?.number).toBe(1);
  });
});

describe('the newest worker', () => {
  test('[I6] With `newest` the worker that registered last gets every call', () => {
    const candidates = candidatesOf(3);
    const chosen = Array.from({ length: 3 }, () => selectWorker(candidates, 'newest')?.number);
    expect(chosen).toEqual([2, 2, 2]);
  });
});

function candidatesOf(count: number, state: Partial<NumberedExecutor> = {}): Candidates<NumberedExecutor> {
  return { executors: Array.from({ length: count }, (_, number) => newExecutor(number, state)), next: 0 };
}
