import { describe, expect, test } from 'vitest';
import { DeliveryWindow, type WindowRules } from '../../../../src/core/queue/delivery-window.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

/** A store with endless jobs, and a worker that ends jobs in any order. */
function step(window: DeliveryWindow, random: SeededRandom, held: { asked: number[] }): void {
  switch (random.below(4)) {
    case 0: {
      const toAsk = window.toAsk;
      if (toAsk > 0) {
        window.ask(toAsk);
        held.asked.push(toAsk);
      }
      return;
    }
    case 1: {
      const asked = held.asked.shift();
      if (asked !== undefined) window.answered(asked, random.below(asked + 1));
      return;
    }
    case 2:
      if (window.mayHandOver) window.handOver();
      return;
    default:
      if (window.running > 0) window.end();
  }
}

describe('the window of a queue', () => {
  test.for<[string, WindowRules, number]>([
    ['[Q11] a standard queue never runs more than its concurrency', { concurrency: 7, isFifo: false }, 7],
    ['[F1] a fifo queue never runs two jobs, whatever its concurrency', { concurrency: 7, isFifo: true }, 1],
  ])('%s', ([, rules, most]) => {
    forEachSeed(50, (random) => {
      const window = new DeliveryWindow(rules);
      const held = { asked: [] };
      for (let turn = 0; turn < 500; turn++) {
        step(window, random, held);
        expect(window.running).toBeLessThanOrEqual(most);
      }
    });
  });

  test('[F2] a fifo queue claims no job while one of its jobs is claimed or running', () => {
    const window = new DeliveryWindow({ concurrency: 5, isFifo: true });
    expect(window.toAsk).toBe(1);
    window.ask(1);
    expect(window.toAsk).toBe(0);
    window.answered(1, 1);
    expect(window.toAsk).toBe(0);
    window.handOver();
    expect(window.toAsk).toBe(0);
    window.end();
    expect(window.toAsk).toBe(1);
  });

  test('[Q6] claims no more jobs ahead than the engine has finished', () => {
    const window = new DeliveryWindow({ concurrency: 4, isFifo: false });
    expect(window.toAsk).toBe(4);
    window.ask(4);
    window.answered(4, 4);
    for (let job = 0; job < 4; job++) window.handOver();
    expect(window.toAsk).toBe(0);
    window.end();
    // One slot is free, and one may be claimed ahead.
    expect(window.toAsk).toBe(2);
  });

  test('[Q12] each queue has its own', () => {
    const [slow, fast] = [1, 2].map(() => new DeliveryWindow({ concurrency: 2, isFifo: false }));
    slow?.ask(2);
    slow?.answered(2, 2);
    expect(slow?.toAsk).toBe(0);
    expect(fast?.toAsk).toBe(2);
  });
});
