import { describe, expect, test } from 'vitest';
import { Deadline, DeadlineWheel } from '../../../../src/sdk/calls/deadline-wheel.ts';
import { FakeClock } from '../../../support/fakes/fake-platform.ts';

class Bell extends Deadline {
  rang: number[] = [];
  readonly #ring: (bell: Bell) => void;

  constructor(ring: (bell: Bell) => void) {
    super();
    this.#ring = ring;
  }

  override expire(): void {
    this.#ring(this);
  }
}

function setUp() {
  const clock = new FakeClock();
  const wheel = new DeadlineWheel(clock);
  const startMs = clock.monotonicMs();
  const bell = (then: () => void = () => {}): Bell =>
    new Bell((self) => {
      self.rang.push(clock.monotonicMs() - startMs);
      then();
    });
  return { clock, wheel, bell };
}

describe('deadlines on one timer', () => {
  test('[I3] no deadline expires early or more than a tick late, even after a full turn of the wheel', () => {
    const { clock, wheel, bell } = setUp();
    const delaysMs = [0, 1, 49, 50, 51, 30_000, 51_200, 51_249, 120_000, 3_600_000];
    const bells = delaysMs.map((delayMs) => {
      const one = bell();
      wheel.add(one, delayMs);
      return one;
    });
    clock.advance(3_700_000);
    for (const [index, delayMs] of delaysMs.entries()) {
      const [rangMs, ...again] = bells[index]?.rang ?? [];
      expect(again).toEqual([]);
      expect(rangMs).toBeGreaterThanOrEqual(delayMs);
      expect(rangMs).toBeLessThanOrEqual(delayMs + 50);
    }
  });

  test('[I3] a loosely added deadline is never early, at most two ticks late, and gone when it is removed', () => {
    const { clock, wheel, bell } = setUp();
    const delaysMs = [0, 1, 49, 50, 51, 30_000, 51_200, 120_000];
    clock.advance(7);
    wheel.add(bell(), 200_000);
    clock.advance(20);
    const bells = delaysMs.map((delayMs) => {
      const one = bell();
      wheel.addLoosely(one, delayMs);
      return one;
    });
    const removed = [bell(), bell()];
    for (const one of removed) wheel.addLoosely(one, 1_000);
    for (const one of removed.slice(0, 1)) wheel.remove(one);
    clock.advance(50);
    for (const one of removed) wheel.remove(one);
    clock.advance(300_000);
    for (const [index, delayMs] of delaysMs.entries()) {
      const [rangMs, ...again] = bells[index]?.rang ?? [];
      expect(again).toEqual([]);
      expect(rangMs).toBeGreaterThanOrEqual(27 + delayMs);
      expect(rangMs).toBeLessThanOrEqual(27 + delayMs + 100);
    }
    expect(removed.flatMap(({ rang }) => rang)).toEqual([]);
    expect(wheel.size).toBe(0);
    expect(clock.timerCount).toBe(0);
  });

  test('[I3] a deadline added when another expires after a block has its full time', () => {
    const { clock, wheel, bell } = setUp();
    const second = bell();
    wheel.add(
      bell(() => {
        clock.block(10_000);
        wheel.addLoosely(second, 1_000);
      }),
      100,
    );
    clock.advance(100);
    clock.advance(20_000);
    expect(second.rang[0]).toBeGreaterThanOrEqual(100 + 10_000 + 1_000);
  });

  test('[SDK-8] the timer runs only while there are deadlines', () => {
    const { clock, wheel, bell } = setUp();
    expect(clock.timerCount).toBe(0);
    const one = bell();
    wheel.add(one, 10_000);
    wheel.add(bell(), 100);
    expect(clock.timerCount).toBe(1);
    wheel.remove(one);
    clock.advance(1_000);
    expect(clock.timerCount).toBe(0);
    expect(wheel.size).toBe(0);
    wheel.add(one, 100);
    clock.advance(200);
    expect(one.rang).toHaveLength(1);
  });

  test('[I1] a removed deadline does not expire, and may be removed twice', () => {
    const { clock, wheel, bell } = setUp();
    const one = bell();
    wheel.add(one, 1_000);
    wheel.remove(one);
    wheel.remove(one);
    clock.advance(5_000);
    expect(one.rang).toEqual([]);
    expect(wheel.size).toBe(0);
  });

  test('[I1] an expiry may remove others of the same moment, and add new ones', () => {
    const { clock, wheel, bell } = setUp();
    const victim = bell();
    const late = bell();
    const first = bell(() => {
      wheel.remove(victim);
      wheel.add(late, 0);
    });
    wheel.add(first, 100);
    wheel.add(victim, 100);
    clock.advance(1_000);
    expect(first.rang).toHaveLength(1);
    expect(victim.rang).toEqual([]);
    expect(late.rang).toHaveLength(1);
  });

  test('[I3] after the process was blocked for minutes everything due expires at the next tick, and nothing else', () => {
    const { clock, wheel, bell } = setUp();
    const due = [10, 40_000, 100_000, 170_000].map((delayMs) => {
      const one = bell();
      wheel.add(one, delayMs);
      return one;
    });
    const later = bell();
    wheel.add(later, 300_000);
    clock.block(180_000);
    clock.advance(0);
    expect(due.map(({ rang }) => rang.length)).toEqual([1, 1, 1, 1]);
    expect(later.rang).toEqual([]);
    clock.advance(130_000);
    expect(later.rang).toHaveLength(1);
  });
});
