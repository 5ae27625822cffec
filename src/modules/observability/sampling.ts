// What the collector goes by, and `engine::sampling::rules`, which shows it.

import { type Pattern, readPattern } from '../../core/pattern.ts';
import type { CollectorSettings } from '../../core/telemetry/collector.ts';
import type { TelemetrySettings } from '../../core/telemetry/settings.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';

export function collectorSettings(settings: TelemetrySettings): CollectorSettings {
  const { resource, traces, sampling, logs, metrics, alerts } = settings;
  const spansKept = spansKeptOf(settings);
  return {
    serviceName: resource.serviceName,
    sampling: traces.enabled
      ? {
          defaultRate: sampling.defaultRatio,
          rules: sampling.rules.map(({ operation, service, rate }) => ({
            operation: patternOf(operation),
            service: patternOf(service),
            rate,
          })),
          isParentBased: sampling.parentBased,
          // Of more, each would be gone within a second, before anybody could look at it, and making them would cost
          // more than the calls that they tell of.
          tracesPerSecondMax: Math.min(sampling.maxTracesPerSecond ?? Number.POSITIVE_INFINITY, spansKept),
        }
      : undefined,
    spansKept,
    hasLogs: logs.enabled,
    logsRatio: logs.samplingRatio,
    // What a rule compares is counted, whether or not metrics are kept.
    hasMetrics: metrics.enabled || alerts.some(({ enabled }) => enabled),
  };
}

/** Where all that comes of a trace is its spans in memory, more than so many are of no use. */
function spansKeptOf({ traces, disk }: TelemetrySettings): number {
  return traces.exporter === 'memory' && disk === undefined ? traces.maxCount : Number.POSITIVE_INFINITY;
}

/** `settings`: those of now. */
export function samplingRules(settings: () => TelemetrySettings, router: Pick<RouterPort, 'nowMs'>): BuiltinDefinition {
  return {
    id: 'engine::sampling::rules',
    description: 'Shows which traces and logs are kept',
    handle() {
      const { sampling, logs } = settings();
      const { defaultRatio, rules, parentBased, maxTracesPerSecond } = sampling;
      return {
        traces: {
          default_ratio: defaultRatio,
          rules: rules.map(({ operation, service, rate }) => ({
            operation: operation ?? null,
            service: service ?? null,
            rate,
          })),
          parent_based: parentBased,
          rate_limit: maxTracesPerSecond === undefined ? null : { max_traces_per_second: maxTracesPerSecond },
        },
        logs: { sampling_ratio: logs.samplingRatio },
        timestamp: router.nowMs,
      };
    },
  };
}

/** The configuration was refused if one cannot be read. */
function patternOf(text: string | undefined): Pattern | undefined {
  if (text === undefined) return undefined;
  const read = readPattern(text);
  if (!read.ok) throw new Error(`A sampling pattern that was refused is used: it ${read.reason}`);
  return read.pattern;
}
