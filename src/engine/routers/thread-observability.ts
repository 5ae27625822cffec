// `svc-observability` on a further router: the rules by which it observes, and its log lines. What it has observed, the
// first router keeps.

import type { TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import type { Collector } from '../../core/telemetry/spans/collector.ts';
import { defineModule, type ModuleDefinition } from '../../modules/module.ts';
import { otelDeclaration } from '../../modules/observability/config.ts';
import { baggageFunctions } from '../../modules/observability/functions.ts';
import { collectLines, identityOf } from '../../modules/observability/own-lines.ts';
import { collectorSettings } from '../../modules/observability/sampling.ts';
import { resolveTelemetry } from '../../modules/observability/settings.ts';

export function observabilityOf(collector: Collector, settings: TelemetrySettings): ModuleDefinition {
  return defineModule({
    declaration: otelDeclaration,
    create(context) {
      collectLines(collector, context, identityOf(settings, context));
      return {
        functions: baggageFunctions,
        triggerTypes: [],
        start: async () => {},
        // The first router has refused what cannot change.
        async reconfigure(config) {
          const next = collectorSettings(resolveTelemetry(config, context.environment, context.router.isDropIn));
          return { ok: true, commit: () => collector.adopt(next) };
        },
        drain: () => {},
        stop: () => {},
        health: () => ({ status: 'healthy' }),
        listeners: () => [],
      };
    },
  });
}
