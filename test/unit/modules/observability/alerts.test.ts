import { expect, test } from 'vitest';
import { type AlertRule, evaluateAlerts } from '../../../../src/core/telemetry/metrics/alert-rules.ts';
import { createLogger } from '../../../../src/effects/logger.ts';
import { Alerts } from '../../../../src/modules/observability/alerts.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

const RULE: AlertRule = {
  name: 'errors',
  metric: 'svc.invocations.error',
  threshold: 1,
  operator: '>',
  windowSeconds: 60,
  cooldownSeconds: 300,
  enabled: true,
  action: { type: 'log' },
};

test('[O4] the cooldown of a rule continues when the rules are replaced, even if it was absent in between', async () => {
  const { alerts, clock, fired } = alertsOf([RULE]);
  await alerts.evaluate();
  expect(fired()).toBe(1);
  clock.advance(299_000);
  alerts.exchange([{ ...RULE, threshold: 2 }]);
  await alerts.evaluate();
  alerts.exchange([]);
  await alerts.evaluate();
  alerts.exchange([RULE]);
  await alerts.evaluate();
  expect(fired()).toBe(1);
  clock.advance(1_000);
  await alerts.evaluate();
  expect(fired()).toBe(2);
  alerts.stop();
});

test('[O4] of simultaneous evaluations only one runs actions', async () => {
  const { alerts, fired } = alertsOf([RULE]);
  const found = await Promise.all([alerts.evaluate(), alerts.evaluate(), alerts.evaluate()]);
  expect(found.map((firing) => firing.length)).toEqual([1, 1, 1]);
  expect(fired()).toBe(1);
});

function alertsOf(rules: readonly AlertRule[]) {
  const { clock, port, context } = new EngineInMemory();
  const lines: string[] = [];
  const logger = createLogger({ level: 'warn', format: 'default', clock, write: (line) => lines.push(line) });
  const alerts = new Alerts({
    rules,
    measure: async (windows) => windows.map(({ rule }) => ({ rule, value: 5 })),
    evaluate: async (inputs, nowMs) => evaluateAlerts(inputs, nowMs),
    router: port,
    outgoing: context.outgoing,
    ...{ clock, logger },
  });
  return { alerts, clock, fired: () => lines.filter((line) => line.includes('An alert fires')).length };
}
