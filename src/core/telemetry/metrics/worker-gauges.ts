// Figures of a worker's process, for `latest_metrics` of its record (modules 10.3). Read from the gauges that SDKs
// send, under any of their names.

import type { MetricRecord } from '../records/records.ts';

export interface WorkerGauges {
  readonly memory_heap_used?: number;
  readonly memory_heap_total?: number;
  readonly memory_rss?: number;
  readonly memory_external?: number;
  readonly cpu_user_micros?: number;
  readonly cpu_system_micros?: number;
  readonly cpu_percent?: number;
  readonly event_loop_lag_ms?: number;
  readonly uptime_seconds?: number;
  readonly timestamp_ms: number;
}

const PREFIX = 'iii.worker.';
const NAMES: Readonly<Record<string, Exclude<keyof WorkerGauges, 'timestamp_ms'>>> = {
  'memory.heap_used': 'memory_heap_used',
  'memory.heap.bytes': 'memory_heap_used',
  'memory.heap_total': 'memory_heap_total',
  'memory.rss': 'memory_rss',
  'memory.rss.bytes': 'memory_rss',
  'memory.external': 'memory_external',
  'cpu.user_micros': 'cpu_user_micros',
  'cpu.system_micros': 'cpu_system_micros',
  'cpu.percent': 'cpu_percent',
  'event_loop.lag_ms': 'event_loop_lag_ms',
  'event_loop.lag.ms': 'event_loop_lag_ms',
  uptime_seconds: 'uptime_seconds',
  'uptime.seconds': 'uptime_seconds',
};

/** The figures of the process that sent the frame; undefined where the frame has none. */
export function readWorkerGauges(metrics: readonly MetricRecord[]): WorkerGauges | undefined {
  const found: Partial<Record<keyof WorkerGauges, number>> = {};
  let timeNano = 0;
  for (const { name, metric_type: type, data_points: points } of metrics) {
    if (type !== 'gauge' || !name.startsWith(PREFIX)) continue;
    const field = NAMES[name.slice(PREFIX.length)];
    const point = points.at(-1);
    if (field === undefined || point === undefined || !('value' in point)) continue;
    found[field] = point.value;
    timeNano = Math.max(timeNano, point.timestamp_unix_nano);
  }
  return timeNano === 0 ? undefined : { ...found, timestamp_ms: Math.round(timeNano / 1e6) };
}
