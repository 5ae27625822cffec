// What is exported, and where to (X24: nothing unless it is configured).

import type { ServiceFacts } from '../../core/telemetry/records/intake.ts';
import { metricIntervalMs, otlpOffences, otlpTarget } from '../../core/telemetry/records/otlp-target.ts';
import { isExported, type TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import { StartFailure } from '../../effects/start-failure.ts';
import type { ExporterOptions } from '../../telemetry/export/exporter.ts';
import type { Environment } from './settings.ts';

/** Undefined: nothing is exported. */
export function exporterOptions(
  { otlp, traces, logs, metrics }: TelemetrySettings,
  { resource }: ServiceFacts,
  env: Environment,
): ExporterOptions | undefined {
  const hasTraces = traces.enabled && isExported(traces.exporter);
  const hasLogs = logs.enabled && isExported(logs.exporter);
  const hasMetrics = metrics.enabled && isExported(metrics.exporter);
  if (!hasTraces && !hasLogs && !hasMetrics) return undefined;
  const [offence] = otlpOffences(otlp, env);
  if (offence !== undefined) throw new StartFailure(78, offence);
  return {
    resource,
    ...(hasTraces && { traces: otlpTarget('traces', otlp, env) }),
    ...(hasLogs && {
      logs: { ...otlpTarget('logs', otlp, env), batch: logs.exportBatchSize, intervalMs: logs.exportIntervalMs },
    }),
    ...(hasMetrics && { metrics: { ...otlpTarget('metrics', otlp, env), intervalMs: metricIntervalMs(env) } }),
  };
}
