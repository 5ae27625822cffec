// The load of the process, as measured by the operating system and V8, for `core/gates/pressure.ts`.

import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { LoopDelayWatch } from './process-figures.ts';

export interface LoadGauge {
  /** The delay that this thread caused itself: the smallest p99 of the last readings. */
  loopDelayMs(): number;
  /** The maximum heap size. */
  heapShare(): number;
  stop(): void;
}

/** A hundred samples a second: with fewer, a single pause would be the slowest hundredth. */
const RESOLUTION_MS = 10;
/** A thread that mostly waits is late because other programs have the processor: refusing work would not help it. */
const UTILIZATION_MIN = 0.8;
/** One bad second is a start or a pause, and is over before refusing work could help. */
const READINGS = 5;

export function startLoadGauge(): LoadGauge {
  const delay = new LoopDelayWatch(RESOLUTION_MS);
  // Delays while the engine is built are not load.
  delay.read();
  let before = performance.eventLoopUtilization();
  const lately: number[] = Array.from({ length: READINGS }, () => 0);
  return {
    loopDelayMs() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      const p99 = delay.read()?.p99 ?? 0;
      lately.shift();
      lately.push(utilization < UTILIZATION_MIN ? 0 : p99);
      return Math.min(...lately);
    },
    heapShare() {
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      return used / limit;
    },
    stop: () => delay.stop(),
  };
}
