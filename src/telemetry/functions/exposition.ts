// `engine::metrics::prometheus`: everything the telemetry thread has counted and measured, in the Prometheus format.
// The HTTP port calls it for `/metrics`.

import { listMetrics } from '../../core/telemetry/metrics/metric-list.ts';
import { prometheusText } from '../../core/telemetry/metrics/prometheus.ts';
import type { TelemetryFunction } from '../world.ts';

/** Older points are from workers that have left or no longer measure. */
const POINTS_MS = 5 * 60_000;

const exposition: TelemetryFunction = {
  id: 'engine::metrics::prometheus',
  run(payload, { engineMetrics, metrics, nowMs }) {
    const filter = { name: undefined, startTime: nowMs - POINTS_MS, endTime: undefined };
    const measured = metrics === undefined ? [] : listMetrics(metrics, filter);
    return { text: prometheusText([...engineMetrics(), ...measured], new Set(withoutOf(payload))) };
  },
};

/** Names that the caller writes itself. */
function withoutOf(payload: unknown): string[] {
  const names = typeof payload === 'object' && payload !== null && 'without' in payload ? payload.without : [];
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

export const expositionFunctions: readonly TelemetryFunction[] = [exposition];
