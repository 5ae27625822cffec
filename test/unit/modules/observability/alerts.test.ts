import { expect, test } from 'vitest';
import { type AlertRule, evaluateAlerts } from '../../../../src/core/telemetry/metrics/alert-rules.ts';
import { createLogger } from '../../../../src/effects/logger.ts';
import { AlertTurns } from '../../../../src/modules/observability/alert-turns.ts';
import { Alerts, type AlertsOptions, Webhooks } from '../../../../src/modules/observability/alerts.ts';
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

test('[O4] only one of several simultaneous evaluations runs actions', async () => {
  const { alerts, fired } = alertsOf([RULE]);
  const found = await Promise.all([alerts.evaluate(), alerts.evaluate(), alerts.evaluate()]);
  expect(found.map((firing) => firing.length)).toEqual([1, 1, 1]);
  expect(fired()).toBe(1);
});

test('[CL36] a rule compares the sum of what the engines measured, and the mean over all of them', async () => {
  const measureElsewhere = async () => [
    { rule: RULE.name, part: { sum: 7 } },
    { rule: 'mean', part: { sum: 90, count: 9 } },
    { rule: 'mean' },
  ];
  const mean: AlertRule = { ...RULE, name: 'mean' };
  const measure = async () => [
    { rule: RULE.name, part: { sum: 5 } },
    { rule: 'mean', part: { sum: 30, count: 1 } },
  ];
  const { alerts } = alertsOf([RULE, mean], { measure, measureElsewhere });
  await alerts.evaluate();
  expect(alerts.list().alerts.map(({ current_value: value }) => value)).toEqual([12, 12]);
});

test('[CL36] of several engines one acts, also after the cooldown, and each when the turns cannot be taken', async () => {
  const cluster = sharedKeys();
  const engines = [1, 2, 3].map(() => alertsOf([RULE], { turns: new AlertTurns(cluster, () => {}) }));
  const fired = () => engines.reduce((sum, engine) => sum + engine.fired(), 0);
  await Promise.all(engines.map(({ alerts }) => alerts.evaluate()));
  expect(fired()).toBe(1);
  for (const { clock } of engines) clock.advance(RULE.cooldownSeconds * 1_000);
  for (const { alerts } of engines) await alerts.evaluate();
  expect(fired()).toBe(2);
  for (const { alerts } of engines) {
    expect(alerts.list().alerts.map(({ last_triggered: at }) => at)).toEqual([engines[0]?.clock.nowMs()]);
  }
  cluster.isAway = true;
  for (const { clock } of engines) clock.advance(RULE.cooldownSeconds * 1_000);
  for (const { alerts } of engines) await alerts.evaluate();
  expect(fired()).toBe(5);
});

/** Keys that several engines share, in the memory of the test. */
function sharedKeys() {
  const values = new Map<string, string>();
  const shared = {
    isAway: false,
    keys: async () => ({
      claim: async () => true,
      read: async () => undefined,
      write: async () => {},
      async exchange(next: (value: string | undefined) => string | undefined, ...names: readonly string[]) {
        if (shared.isAway) throw new Error('NATS is away');
        const key = names.join();
        const value = next(values.get(key));
        if (value !== undefined) values.set(key, value);
        return value !== undefined;
      },
    }),
  };
  return shared;
}

function alertsOf(rules: readonly AlertRule[], more: Partial<AlertsOptions> = {}) {
  const { clock, port, context } = new EngineInMemory();
  const lines: string[] = [];
  const logger = createLogger({ level: 'warn', format: 'default', clock, write: (line) => lines.push(line) });
  const alerts = new Alerts({
    rules,
    measure: async (windows) => windows.map(({ rule }) => ({ rule, part: { sum: 5 } })),
    evaluate: async (inputs, nowMs) => evaluateAlerts(inputs, nowMs),
    router: port,
    outgoing: context.outgoing,
    ...{ clock, logger },
    ...more,
  });
  return { alerts, clock, fired: () => lines.filter((line) => line.includes('An alert fires')).length };
}

const MESSAGE = { alert: 'a', metric: 'm', value: 2, threshold: 1, operator: '>', timestamp: 0 };
const URL_OF_HOOK = 'https://hooks.example/alert';

type Send = ConstructorParameters<typeof Webhooks>[0]['send'];

test('[X16] eight webhooks run at a time, a thousand wait, and more are refused', async () => {
  const under: (() => void)[] = [];
  const send: Send = () => new Promise((resolve) => under.push(() => resolve({ status: 200, body: Buffer.alloc(0) })));
  const webhooks = new Webhooks({ send });
  const sent = Array.from({ length: 1_008 }, () => webhooks.send(URL_OF_HOOK, MESSAGE));
  await expect(webhooks.send(URL_OF_HOOK, MESSAGE)).rejects.toThrow('1000 webhooks wait already');
  expect(under).toHaveLength(8);
  under[3]?.();
  await sent[3];
  await Promise.resolve();
  expect(under).toHaveLength(9);
  for (let next = 0; next < 1_008; next++) {
    under[next]?.();
    await sent[next];
  }
  await Promise.all(sent);
});

test('[X16] a webhook must answer 2xx within 5 s, and 64 KiB of its answer are read', async () => {
  const asked: Parameters<Send>[0][] = [];
  let status = 204;
  const webhooks = new Webhooks({
    async send(request) {
      asked.push(request);
      return { status, body: Buffer.alloc(0) };
    },
  });
  await webhooks.send(URL_OF_HOOK, MESSAGE);
  expect(asked).toMatchObject([{ method: 'POST', timeoutMs: 5_000, answerBytesMax: 65_536 }]);
  for (status of [199, 302, 404, 500]) {
    await expect(webhooks.send(URL_OF_HOOK, MESSAGE)).rejects.toThrow(`status ${status}`);
  }
});
