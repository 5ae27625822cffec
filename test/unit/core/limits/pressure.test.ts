import { describe, expect, test } from 'vitest';
import {
  CALM_MS,
  PRESSURE_NAMES,
  Pressure,
  type PressureReading,
  THRESHOLDS,
} from '../../../../src/core/limits/pressure.ts';
import { SeededRandom } from '../../../support/random/seeded-random.ts';

const CALM: PressureReading = { event_loop_delay_ms: 0, heap_share: 0, outbound_share: 0, commit_queue: 0 };

describe('the level of pressure', () => {
  test.each([
    ['a loop that is 51 ms late', { event_loop_delay_ms: 51 }, 'busy'],
    ['a loop that is 201 ms late', { event_loop_delay_ms: 201 }, 'shed'],
    ['a loop that is 1 001 ms late', { event_loop_delay_ms: 1_001 }, 'protect'],
    ['a heap at 71 %', { heap_share: 0.71 }, 'busy'],
    ['a heap at 86 %', { heap_share: 0.86 }, 'shed'],
    ['a heap at 96 %', { heap_share: 0.96 }, 'protect'],
    ['unread bytes at 51 % of their limit', { outbound_share: 0.51 }, 'busy'],
    ['unread bytes at 76 %, or all of it', { outbound_share: 5 }, 'shed'],
    ['5 001 commands that wait for the store', { commit_queue: 5_001 }, 'busy'],
    ['20 001 commands that wait for the store', { commit_queue: 1_000_000 }, 'shed'],
    ['everything at its first threshold', { event_loop_delay_ms: 50, heap_share: 0.7, commit_queue: 5_000 }, 'normal'],
  ])('[L1] for %s (%j) is %s', (_case, reading, level) => {
    const pressure = new Pressure();
    pressure.take({ ...CALM, ...reading }, 0);
    expect(pressure.name).toBe(level);
  });

  test('[L2] names its cause, and the limit', () => {
    const pressure = new Pressure();
    expect(pressure.cause).toBeUndefined();
    pressure.take({ ...CALM, heap_share: 0.9, event_loop_delay_ms: 60 }, 0);
    expect(pressure.cause).toEqual({ quantity: 'heap_share', value: 0.9, limit: 0.85 });
  });

  test('[L2] falls 5 s after the last reading that required it, to the level still required', () => {
    const pressure = new Pressure();
    expect(pressure.take({ ...CALM, event_loop_delay_ms: 300 }, 0)).toBe(true);
    for (let nowMs = 1_000; nowMs < 5_000; nowMs += 1_000) {
      expect(pressure.take({ ...CALM, event_loop_delay_ms: 100 }, nowMs)).toBe(false);
    }
    expect(pressure.name).toBe('shed');
    expect(pressure.take({ ...CALM, event_loop_delay_ms: 100 }, 4_999)).toBe(false);
    expect(pressure.take({ ...CALM, event_loop_delay_ms: 100 }, 5_000)).toBe(true);
    expect(pressure.name).toBe('busy');
    expect(pressure.take(CALM, 10_000)).toBe(true);
    expect([pressure.name, pressure.cause]).toEqual(['normal', undefined]);
  });

  test('[L1] [L2] is the highest that any reading of the last 5 s requires', () => {
    const random = new SeededRandom(51);
    const pressure = new Pressure();
    const past: { readonly nowMs: number; readonly level: number }[] = [];
    for (let nowMs = 0; nowMs < 2_000_000; nowMs += random.between(200, 3_000)) {
      const reading: PressureReading = {
        event_loop_delay_ms: random.between(0, 3) === 0 ? random.between(0, 1_500) : 0,
        heap_share: random.between(0, 9) === 0 ? random.between(0, 100) / 100 : 0,
        outbound_share: random.between(0, 100) / 200,
        commit_queue: random.between(0, 9) === 0 ? random.between(0, 40_000) : 0,
      };
      past.push({ nowMs, level: levelOf(reading) });
      const before = pressure.level;
      expect(pressure.take(reading, nowMs)).toBe(pressure.level !== before);
      const lately = past.filter((one) => nowMs - one.nowMs < CALM_MS).map(({ level }) => level);
      expect(pressure.name).toBe(PRESSURE_NAMES[Math.max(...lately)]);
    }
  });

  test('[L4] halves the admitted share of new work each second, and raises it when the engine keeps up', () => {
    const pressure = new Pressure();
    const shares: number[] = [];
    const delays = [0, 300, 300, 300, 100, 0, 0, 2_000, 0];
    for (const [second, event_loop_delay_ms] of delays.entries()) {
      pressure.take({ ...CALM, event_loop_delay_ms }, second * 1_000);
      let admitted = 0;
      for (let asked = 0; asked < 1_000; asked++) admitted += pressure.admits() ? 1 : 0;
      expect(Math.abs(admitted - pressure.share * 1_000)).toBeLessThanOrEqual(1);
      shares.push(Math.round(pressure.share * 1_000) / 1_000);
    }
    expect(shares).toEqual([1, 0.5, 0.25, 0.125, 0.225, 0.325, 0.425, 0, 0]);
  });

  test('[L2] reports changes only', () => {
    const pressure = new Pressure();
    const reported: string[] = [];
    pressure.listeners.add(() => reported.push(pressure.name));
    for (let nowMs = 0; nowMs <= 20_000; nowMs += 1_000) {
      pressure.take({ ...CALM, commit_queue: nowMs < 3_000 ? 9_000 : 0 }, nowMs);
    }
    expect(reported).toEqual(['busy', 'normal']);
  });
});

function levelOf(reading: PressureReading): number {
  const levels = Object.entries(reading).map(([quantity, value]) => {
    const thresholds = THRESHOLDS[quantity as keyof PressureReading];
    return thresholds.filter((limit) => value > limit).length;
  });
  return Math.max(...levels);
}
