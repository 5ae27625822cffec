// What a store holds, in the words of its settings.

import type { LogStore } from '../../core/telemetry/logs/log-store.ts';
import type { Retention } from '../../core/telemetry/records/retention.ts';
import type { DiskSettings, LogSettings, TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import type { SpanStore } from '../../core/telemetry/spans/span-store.ts';

interface Stored {
  readonly wholeSinceMs: number | undefined;
  readonly keptSinceMs: number | undefined;
  readonly limitedBy: 'maxCount' | 'maxBytes';
}

interface Bounds {
  readonly maxCount: number;
  readonly maxBytes: number;
}

type Names = Readonly<Record<keyof Bounds, string>>;

export function traceRetention(store: SpanStore, settings: TelemetrySettings, startedMs: number): Retention {
  const { traces, disk, sampling } = settings;
  const names = { maxCount: 'memory_max_spans', maxBytes: 'memory_max_bytes' };
  const { defaultRatio, rules, maxTracesPerSecond } = sampling;
  const isSampled = defaultRatio < 1 || rules.some(({ rate }) => rate < 1) || maxTracesPerSecond !== undefined;
  return { ...retentionOf(store, traces, names, disk, startedMs), is_sampled: isSampled };
}

export function logRetention(
  store: LogStore,
  { logs, disk }: TelemetrySettings,
  startedMs: number,
  nowMs: number,
): Retention {
  const names = { maxCount: 'logs_max_count', maxBytes: 'logs_max_bytes' };
  const retention = retentionOf(store, logs, names, disk, startedMs);
  const is_sampled = logs.samplingRatio < 1;
  const oldestMs = nowMs - logs.retentionMs;
  if (oldestMs <= retention.whole_since_ms) return { ...retention, is_sampled };
  return { ...retention, ...ageLimit(logs, disk), whole_since_ms: oldestMs, is_sampled };
}

function ageLimit({ retentionMs }: LogSettings, disk: DiskSettings | undefined): Pick<Retention, 'setting' | 'value'> {
  const setting = disk === undefined ? 'logs_retention_seconds' : 'trace_storage.retention_seconds';
  return { setting, value: retentionMs / 1_000 };
}

function retentionOf(
  { wholeSinceMs, keptSinceMs, limitedBy }: Stored,
  bounds: Bounds,
  names: Names,
  disk: DiskSettings | undefined,
  startedMs: number,
): Omit<Retention, 'is_sampled'> {
  const kept_since_ms = keptSinceMs === undefined ? null : Math.ceil(keptSinceMs);
  // Nothing has left yet: what was before the start of the engine was not kept, or is on the disk.
  if (wholeSinceMs === undefined || wholeSinceMs < startedMs) {
    if (disk === undefined) return { whole_since_ms: startedMs, kept_since_ms, setting: 'trace_storage', value: null };
    const value = disk.retentionMs / 1_000;
    const whole_since_ms = wholeSinceMs ?? startedMs - disk.retentionMs;
    return { whole_since_ms, kept_since_ms, setting: 'trace_storage.retention_seconds', value };
  }
  const isOfDisk = disk !== undefined && limitedBy === 'maxBytes';
  const setting = isOfDisk ? 'trace_storage.memory_max_bytes' : names[limitedBy];
  return { whole_since_ms: Math.ceil(wholeSinceMs), kept_since_ms, setting, value: bounds[limitedBy] };
}
