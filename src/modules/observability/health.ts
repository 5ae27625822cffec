// The health of observability: what is kept, what is exported, and its problems.

import { isExported, isKept, type TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import type { TelemetryClient } from '../../telemetry/client.ts';
import type { ComponentHealth, ModuleHealth } from '../module.ts';

type Seen = Pick<TelemetryClient, 'stored' | 'exports' | 'failures'>;

const DISABLED: ComponentHealth = { status: 'disabled', details: null };

export function healthOf({ stored, exports, failures }: Seen): ModuleHealth {
  const isFailing = Object.values(exports).some(({ state }) => state !== 'working');
  const trouble = stored.exportTrouble ?? stored.diskTrouble;
  return {
    status: isFailing || trouble !== undefined ? 'degraded' : 'healthy',
    details: {
      exports,
      ...(trouble !== undefined && { trouble }),
      ...(failures > 0 && { thread_failures: failures }),
    },
  };
}

/** The sub-statuses of the module. */
export function componentsOf(
  { resource, traces, metrics, logs }: TelemetrySettings,
  { stored, exports }: Seen,
): Readonly<Record<string, ComponentHealth>> {
  const isExporting = isExported(traces.exporter) || isExported(logs.exporter) || isExported(metrics.exporter);
  const isWorking = Object.values(exports).every(({ state }) => state === 'working');
  const otel = { enabled: traces.enabled, service_name: resource.serviceName, exporter: traces.exporter };
  return {
    otel: traces.enabled ? { status: isExporting && !isWorking ? 'degraded' : 'healthy', details: otel } : DISABLED,
    metrics: metrics.enabled ? { status: 'healthy', details: { stored_metrics: stored.metrics } } : DISABLED,
    logs: logs.enabled ? { status: 'healthy', details: { stored_logs: stored.logs } } : DISABLED,
    spans:
      traces.enabled && isKept(traces.exporter)
        ? { status: 'healthy', details: { stored_spans: stored.spans } }
        : DISABLED,
  };
}
