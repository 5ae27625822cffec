// Alert rules in a running engine: their metrics, their actions and their cooldown.

import { expect, test } from 'vitest';
import { HttpTarget } from '../../support/clients/http-target.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { ask, type Fields, observedBy, sendCounter } from '../../support/telemetry/observability-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

function rules(...alerts: Fields[]): string {
  return JSON.stringify({ enabled: true, exporter: 'memory', metrics_enabled: true, alerts });
}

test('[O4] An alert calls its function once per cooldown with the value of its window', async () => {
  const rule = {
    ...{ name: 'failures', metric: 'svc.invocations.error', threshold: 2, operator: 'greaterthanorequal' },
    action: { type: 'function', path: 'ops::page' },
  };
  await using engine = await startTestEngine({ yaml: observedBy(rules(rule)) });
  await using worker = await RawWorker.connect(engine.url);
  const pages: unknown[] = [];
  await worker.serve('ops::page', (page) => pages.push(page));
  await worker.serve('a::broken', () => {
    throw new Error('no');
  });
  expect((await ask(worker, 'engine::alerts::list')).alerts).toEqual([
    {
      ...{ name: 'failures', metric: 'svc.invocations.error', threshold: 2, operator: '>=', enabled: true },
      ...{ firing: false, last_evaluated: null, last_triggered: null, current_value: null },
      ...{ window_seconds: 60, cooldown_seconds: 60, action: 'function' },
    },
  ]);
  expect(await ask(worker, 'engine::alerts::evaluate')).toMatchObject({ evaluated: true, triggered_alerts: [] });
  await worker.call('a::broken');
  await worker.call('a::broken');
  const first = await ask(worker, 'engine::alerts::evaluate');
  expect(first.triggered_alerts).toEqual([
    {
      ...{ name: 'failures', metric: 'svc.invocations.error', value: 2, threshold: 2, operator: '>=' },
      ...{ firing: true, timestamp: expect.any(Number) },
    },
  ]);
  await ask(worker, 'engine::alerts::evaluate');
  await worker.settled();
  expect(pages).toEqual([
    {
      ...{ alert: 'failures', metric: 'svc.invocations.error', value: 2, threshold: 2, operator: '>=' },
      ...{ firing: true, timestamp: expect.any(Number) },
    },
  ]);
  expect(await ask(worker, 'engine::alerts::list')).toMatchObject({
    alerts: [{ firing: true, current_value: 2, last_triggered: expect.any(Number) }],
    firing_count: 1,
  });
});

test('[X16] An alert on a metric of a worker posts to its webhook', async () => {
  await using target = await HttpTarget.start();
  const rule = { name: 'orders', metric: 'shop.orders', threshold: 3, action: { type: 'webhook', url: target.url } };
  const yaml = observedBy(rules(rule), 'outgoing: {allow: [127.0.0.1]}\n');
  await using engine = await startTestEngine({ yaml });
  await using worker = await RawWorker.connect(engine.url);
  sendCounter(worker, 'shop.orders', 4, Date.now());
  await worker.settled();
  await ask(worker, 'engine::alerts::evaluate');
  const request = await waitFor('the webhook arrives', () => target.requests[0]);
  expect(request).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
  expect(JSON.parse(request.body)).toEqual({
    ...{ alert: 'orders', metric: 'shop.orders', value: 4, threshold: 3, operator: '>' },
    timestamp: expect.any(Number),
  });
});

test('[X18] A webhook to an internal address that is not allowed is refused, logged and counted', async () => {
  await using target = await HttpTarget.start();
  const rule = { name: 'w', metric: 'svc.workers.active', threshold: 0, action: { type: 'webhook', url: target.url } };
  await using engine = await startTestEngine({ yaml: observedBy(rules(rule)) });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('a::one');
  await ask(worker, 'engine::alerts::evaluate');
  await waitFor('the refusal is counted', () => engine.counters.get('alerts.failed') === 1);
  expect(engine.log.some((line) => line.includes('The webhook of an alert failed'))).toBe(true);
  expect(target.requests).toEqual([]);
});

test('A disabled rule never fires, and a rule without an action writes a log line', async () => {
  const always = { metric: 'svc.workers.active', threshold: -1 };
  const yaml = observedBy(rules({ ...always, name: 'off', enabled: false }, { ...always, name: 'on' }));
  await using engine = await startTestEngine({ yaml });
  await using worker = await RawWorker.connect(engine.url);
  const { triggered_alerts: fired } = await ask(worker, 'engine::alerts::evaluate');
  expect((fired as Fields[]).map(({ name }) => name)).toEqual(['on']);
  expect(engine.log.filter((line) => line.includes('An alert fires'))).toHaveLength(1);
});

test('[modules 11.7] Rules on counts of the engine work without metrics, and a rule that cannot fire is logged', async () => {
  const alerts = [
    { name: 'failures', metric: 'svc.invocations.error', threshold: 0 },
    { name: 'orders', metric: 'shop.orders', threshold: 0 },
    { name: 'off', metric: 'shop.orders', threshold: 0, enabled: false },
  ];
  await using engine = await startTestEngine({ yaml: observedBy(JSON.stringify({ alerts })) });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('a::broken', () => {
    throw new Error('no');
  });
  await worker.call('a::broken');
  const { triggered_alerts: firing } = await ask(worker, 'engine::alerts::evaluate');
  expect(firing).toMatchObject([{ name: 'failures', value: 1 }]);
  expect(engine.log.filter((line) => line.includes('never fires'))).toEqual([expect.stringContaining('orders')]);
});

test.each([
  ['svc', ''],
  ['iii', 'compat: iii\n'],
])('[PD-45] metrics are emitted with the prefix %s, and rules and queries may use either', async (prefix, top) => {
  const gauge = { metric: 'iii.workers.active', threshold: 0 };
  const alerts = [
    { ...gauge, name: 'either' },
    { metric: 'svc.worker.jobs', threshold: 3, name: 'of a worker' },
  ];
  await using engine = await startTestEngine({ yaml: observedBy(rules(...alerts), top) });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('a::one');
  sendCounter(worker, 'iii.worker.jobs', 4, Date.now());
  await worker.settled();
  const { triggered_alerts: firing } = await ask(worker, 'engine::alerts::evaluate');
  expect(firing).toMatchObject([{ metric: 'iii.workers.active' }, { metric: 'svc.worker.jobs', value: 4 }]);
  for (const metric_name of ['iii.worker.jobs', 'svc.worker.jobs']) {
    const { sdk_metrics } = await ask(worker, 'engine::metrics::list', { metric_name });
    expect(sdk_metrics).toMatchObject([{ name: `${prefix}.worker.jobs` }]);
    const { rollups } = await ask(worker, 'engine::rollups::list', { metric_name });
    expect(rollups).toMatchObject([{ name: `${prefix}.worker.jobs`, sum: 4 }]);
  }
  const { text } = await ask(worker, 'engine::metrics::prometheus');
  expect(String(text)).toContain(`\n${prefix}_workers_active{`);
});
