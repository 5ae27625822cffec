import { describe, expect, test } from 'vitest';
import { type Reachable, selectEngine } from '../../../../src/core/cluster/select-engine.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

interface Named extends Reachable {
  readonly name: string;
}

function engine(name: string, parts: Partial<Reachable> = {}): Named {
  const usual = { isUp: true, hasRoom: true, isDraining: false, zone: undefined, inFlight: 0, callsInFlight: 0 };
  return { name, ...usual, ...parts };
}

const never = (): number => 0.999;

describe('the engine that gets a call', () => {
  test('[CL12] is the one with the fewest calls, its own there plus those it reported', () => {
    const engines = [
      engine('a', { inFlight: 3, callsInFlight: 4 }),
      engine('b', { inFlight: 6 }),
      engine('c', { callsInFlight: 9 }),
    ];
    expect(selectEngine(engines, undefined, never)?.name).toBe('b');
  });

  test('[CL12] is one of the same zone, however busy, where there is one', () => {
    const engines = [engine('a', { zone: 'east' }), engine('b', { zone: 'west', inFlight: 50 })];
    expect(selectEngine(engines, 'west', never)?.name).toBe('b');
  });

  test('[CL12] is a draining one only where no other is left', () => {
    const engines = [engine('a', { isDraining: true, zone: 'west' }), engine('b', { inFlight: 9 })];
    expect(selectEngine(engines, 'west', never)?.name).toBe('b');
    expect(selectEngine(engines.slice(0, 1), 'west', never)?.name).toBe('a');
  });

  test('[CL12] is none that cannot be reached or has no room', () => {
    expect(
      selectEngine([engine('a', { isUp: false }), engine('b', { hasRoom: false })], undefined, never),
    ).toBeUndefined();
  });

  test('[CL12] is any of equal ones with the same probability', () => {
    const counts: Record<string, number> = { a: 0, b: 0, c: 0 };
    forEachSeed(1, (random) => {
      const engines = [engine('a'), engine('b'), engine('c')];
      for (let step = 0; step < 3_000; step++) {
        const chosen = selectEngine(engines, undefined, () => random.between(0, 999_999) / 1_000_000);
        if (chosen !== undefined) counts[chosen.name] = (counts[chosen.name] ?? 0) + 1;
      }
    });
    for (const count of Object.values(counts)) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});
