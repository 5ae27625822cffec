// How the process bears its load, as the operating system and V8 tell: for `core/pressure.ts`.

import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { LoopDelayWatch } from './process-figures.ts';

export interface LoadGauge {
  /** By how much this thread was late by its own doing: the least p99 of the last times that it was asked. */
  loopDelayMs(): number;
  /** Of what the heap may grow to. */
  heapShare(): number;
  stop(): void;
}

/** A hundred looks a second: with fewer, one single pause would be the slowest hundredth. */
const RESOLUTION_MS = 10;
/** A thread that mostly waits is late because others have the processor: refusing work would not help it. */
const UTILIZATION_MIN = 0.8;
/** One bad second is a start or a pause, and over before anything that is refused could help. */
const READINGS = 5;

export function startLoadGauge(): LoadGauge {
  const delay = new LoopDelayWatch(RESOLUTION_MS);
  // What happened while the engine was built is no load.
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
