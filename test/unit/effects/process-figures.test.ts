import { expect, test } from 'vitest';
import { startLoadGauge } from '../../../src/effects/process-figures.ts';

/** Blocks this thread. */
function block(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('[L1] The delay of a blocked thread is the time it was blocked', async () => {
  const gauge = startLoadGauge();
  try {
    const delays: number[] = [];
    while (delays.length < 8) {
      for (let round = 0; round < 3; round++) {
        block(80);
        await turn();
      }
      delays.push(gauge.loopDelayMs());
    }
    // The delay counts from the fifth reading in a row.
    expect(delays.slice(0, 4)).toEqual([0, 0, 0, 0]);
    expect(delays.at(-1)).toBeGreaterThan(50);
    expect(gauge.heapShare()).toBeGreaterThan(0);
    expect(gauge.heapShare()).toBeLessThan(1);
  } finally {
    gauge.stop();
  }
});

test('[L1] A thread that mostly waits has no delay, however busy the processor is', async () => {
  const gauge = startLoadGauge();
  try {
    gauge.loopDelayMs();
    for (let round = 0; round < 3; round++) {
      block(60);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(gauge.loopDelayMs()).toBe(0);
  } finally {
    gauge.stop();
  }
});
