// `svc-observability` on a further router: the rules by which it observes. The first router keeps what it has observed.

import type { Collector } from '../../core/telemetry/spans/collector.ts';
import { defineModule, type ModuleDefinition } from '../../modules/module.ts';
import { otelDeclaration } from '../../modules/observability/config.ts';
import { baggageFunctions } from '../../modules/observability/functions.ts';
import { collectorSettings } from '../../modules/observability/sampling.ts';
import { resolveTelemetry } from '../../modules/observability/settings.ts';

export function observabilityOf(collector: Collector): ModuleDefinition {
  return defineModule({
    declaration: otelDeclaration,
    create: ({ environment, router }) => ({
      functions: baggageFunctions,
      triggerTypes: [],
      start: async () => {},
      // The first router has refused what cannot change.
      async reconfigure(config) {
        const next = collectorSettings(resolveTelemetry(config, environment, router.isDropIn));
        return { ok: true, commit: () => collector.adopt(next) };
      },
      drain: () => {},
      stop: () => {},
      health: () => ({ status: 'healthy' }),
      listeners: () => [],
    }),
  });
}
