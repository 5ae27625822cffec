// Figures of the process itself: memory, processor time, and the delay of its event loop.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

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
