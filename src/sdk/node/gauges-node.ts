// Measures the process of a worker, under the names that the engine expects (wire 6.3).

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Gauge } from '../telemetry/otlp-json.ts';

/** Interval between measurements of the event loop. */
const LAG_STEP_MS = 20;
const NANOS_PER_MS = 1e6;

export interface ProcessGauges {
  /** The values since the last reading. */
  read(nowMs: number): Gauge[];
  stop(): void;
}

export function watchProcess(nowMs: number): ProcessGauges {
  const delay = monitorEventLoopDelay({ resolution: LAG_STEP_MS });
  delay.enable();
  let cpu = process.cpuUsage();
  let readMs = nowMs;
  return {
    read(atMs) {
      const spent = process.cpuUsage(cpu);
      const elapsedMs = Math.max(1, atMs - readMs);
      cpu = process.cpuUsage();
      readMs = atMs;
      const lagMs = delay.count === 0 ? 0 : Math.max(0, delay.percentile(99) / NANOS_PER_MS - LAG_STEP_MS);
      delay.reset();
      const { heapUsed, heapTotal, rss, external } = process.memoryUsage();
      return [
        bytes('heap_used', heapUsed),
        bytes('heap_total', heapTotal),
        bytes('rss', rss),
        bytes('external', external),
        { name: 'iii.worker.cpu.percent', unit: '%', value: (spent.user + spent.system) / 10 / elapsedMs },
        { name: 'iii.worker.cpu.user_micros', unit: 'us', value: cpu.user },
        { name: 'iii.worker.cpu.system_micros', unit: 'us', value: cpu.system },
        { name: 'iii.worker.event_loop.lag_ms', unit: 'ms', value: lagMs },
        { name: 'iii.worker.uptime_seconds', unit: 's', value: process.uptime() },
      ];
    },
    stop: () => delay.disable(),
  };
}

function bytes(name: string, value: number): Gauge {
  return { name: `iii.worker.memory.${name}`, unit: 'By', value };
}
