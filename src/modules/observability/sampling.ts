// The sampling rules of the collector, and `engine::sampling::rules`, which shows them.

import type { BuiltinAnswers } from '../../console/api/builtin-answers.ts';
import { type Pattern, readPattern } from '../../core/access/pattern.ts';
import { isKept, type TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import type { CollectorSettings } from '../../core/telemetry/spans/collector.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';

export function collectorSettings(settings: TelemetrySettings): CollectorSettings {
  const { resource, traces, sampling, logs, metrics, alerts, prefix } = settings;
  const spansKept = spansKeptOf(settings);
  return {
    serviceName: resource.serviceName,
    prefix,
    sampling: traces.enabled
      ? {
          defaultRate: sampling.defaultRatio,
          rules: sampling.rules.map(({ operation, service, rate }) => ({
            operation: patternOf(operation),
            service: patternOf(service),
            rate,
          })),
          isParentBased: sampling.parentBased,
          tracesPerSecondMax: Math.min(sampling.maxTracesPerSecond ?? Number.POSITIVE_INFINITY, tracesMax(settings)),
        }
      : undefined,
    spansKept,
    hasLogs: logs.enabled,
    logsRatio: logs.samplingRatio,
    // Figures of functions and the values that a rule compares are counted, whether or not metrics are kept.
    payloads: traces.enabled && isKept(traces.exporter) ? settings.payloads : undefined,
    hasMetrics: metrics.enabled || traces.enabled || alerts.some(({ enabled }) => enabled),
  };
}

/** If spans are kept only in memory, more than its limit is of no use. */
function spansKeptOf(settings: TelemetrySettings): number {
  return isInMemoryOnly(settings) ? settings.traces.maxCount : Number.POSITIVE_INFINITY;
}

/** In memory, more would push each other out before a person could read them, and cost more than their calls. */
function tracesMax(settings: TelemetrySettings): number {
  return isInMemoryOnly(settings)
    ? Math.min(TRACES_PER_SECOND_IN_MEMORY, settings.traces.maxCount)
    : Number.POSITIVE_INFINITY;
}

const TRACES_PER_SECOND_IN_MEMORY = 1_000;

function isInMemoryOnly({ traces, disk }: TelemetrySettings): boolean {
  return traces.exporter === 'memory' && disk === undefined;
}

/** `settings` returns the present settings. */
export function samplingRules(settings: () => TelemetrySettings, router: Pick<RouterPort, 'nowMs'>): BuiltinDefinition {
  return {
    id: 'engine::sampling::rules',
    description: 'Shows which traces and logs are kept',
    handle(): BuiltinAnswers['engine::sampling::rules'] {
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

/** The configuration was refused if a pattern is invalid. */
function patternOf(text: string | undefined): Pattern | undefined {
  if (text === undefined) return undefined;
  const read = readPattern(text);
  if (!read.ok) throw new Error(`A sampling pattern that was refused is used: it ${read.reason}`);
  return read.pattern;
}
