// Figures of the process itself: memory, processor time, the delay of its event loop, and its load for
// `core/limits/pressure.ts`.

import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface ProcessFigures {
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly cpuSeconds: number;
  readonly uptimeSeconds: number;
  /** Milliseconds since the previous reading; undefined the first time. */
  readonly loopDelay: LoopDelay | undefined;
}

const RESOLUTION_MS = 20;
const NANO_PER_MS = 1e6;

/** Starts to measure the delay with the first reading: an engine that is never asked pays nothing. */
export class LoopDelayWatch {
  readonly #resolutionMs: number;
  #histogram: IntervalHistogram | undefined;

  constructor(resolutionMs: number) {
    this.#resolutionMs = resolutionMs;
  }

  /** Milliseconds since the previous reading; undefined the first time. */
  read(): LoopDelay | undefined {
    if (this.#histogram === undefined) {
      this.#histogram = monitorEventLoopDelay({ resolution: this.#resolutionMs });
      this.#histogram.enable();
      return undefined;
    }
    if (this.#histogram.count === 0) return undefined;
    // It measures the time between two samples; what exceeds their distance is the delay.
    const late = (nano: number) => Math.max(0, nano / NANO_PER_MS - this.#resolutionMs);
    const { max } = this.#histogram;
    const delay = {
      p50: late(this.#histogram.percentile(50)),
      p99: late(this.#histogram.percentile(99)),
      max: late(max),
    };
    this.#histogram.reset();
    return delay;
  }

  stop(): void {
    this.#histogram?.disable();
    this.#histogram = undefined;
  }
}

/** The process's usage so far, to compare two moments. */
export function processUse(): Pick<ProcessFigures, 'cpuSeconds' | 'residentBytes'> {
  const { user, system } = process.cpuUsage();
  return { cpuSeconds: (user + system) / 1e6, residentBytes: process.memoryUsage.rss() };
}

export class ProcessWatch {
  readonly #delay = new LoopDelayWatch(RESOLUTION_MS);

  read(): ProcessFigures {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    return {
      residentBytes: rss,
      heapBytes: heapUsed,
      cpuSeconds: (user + system) / 1e6,
      uptimeSeconds: process.uptime(),
      loopDelay: this.#delay.read(),
    };
  }

  stop(): void {
    this.#delay.stop();
  }
}

export interface LoadGauge {
  /** The delay that this thread caused itself: the smallest p99 of the last readings. */
  loopDelayMs(): number;
  /** The maximum heap size. */
  heapShare(): number;
  stop(): void;
}

/** A hundred samples a second: with fewer, a single pause would be the slowest hundredth. */
const LOAD_RESOLUTION_MS = 10;
/** A thread that mostly waits is late because other programs have the processor: refusing work would not help it. */
const UTILIZATION_MIN = 0.8;
/** One bad second is a start or a pause, and is over before refusing work could help. */
const READINGS = 5;

export function startLoadGauge(): LoadGauge {
  const delay = new LoopDelayWatch(LOAD_RESOLUTION_MS);
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
