// How the process itself does: memory, processor time, and how late its thread comes to what it has to do.

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
  /** Milliseconds, since the figures were read before; undefined the first time. */
  readonly loopDelay: LoopDelay | undefined;
}

const RESOLUTION_MS = 20;
const NANO_PER_MS = 1e6;

/** Measures the delay from the first reading on: an engine that nobody asks pays nothing. */
export class LoopDelayWatch {
  readonly #resolutionMs: number;
  #histogram: IntervalHistogram | undefined;

  constructor(resolutionMs: number) {
    this.#resolutionMs = resolutionMs;
  }

  /** Milliseconds, since it was read before; undefined the first time. */
  read(): LoopDelay | undefined {
    if (this.#histogram === undefined) {
      this.#histogram = monitorEventLoopDelay({ resolution: this.#resolutionMs });
      this.#histogram.enable();
      return undefined;
    }
    if (this.#histogram.count === 0) return undefined;
    // It measures the time between two looks; what is over their distance is the delay.
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

/** What this process has used so far; for two moments to be compared. */
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
