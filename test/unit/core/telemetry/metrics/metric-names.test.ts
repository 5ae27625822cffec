import { expect, test } from 'vitest';
import { isMetric, metricName } from '../../../../../src/core/telemetry/metrics/metric-names.ts';

test('[PD-45] a metric of the engine has one name under either prefix', () => {
  expect(metricName('iii.invocations.total', 'svc')).toBe('svc.invocations.total');
  expect(metricName('svc.worker.cpu.percent', 'iii')).toBe('iii.worker.cpu.percent');
  expect(metricName('iii.workers.active', 'iii')).toBe('iii.workers.active');
});

test('[PD-45] the name of a metric that a user made stays as it is', () => {
  for (const name of ['iii.orders.made', 'svc.queue.depth', 'iiirritating', 'workers.active', 'orders']) {
    expect([metricName(name, 'svc'), metricName(name, 'iii')]).toEqual([name, name]);
  }
});

test('[PD-45] a query finds a metric by either name, and no other metric', () => {
  for (const wanted of ['iii.worker.memory.rss', 'svc.worker.memory.rss']) {
    const names = ['svc.worker.memory.rss', 'iii.worker.memory.rss', 'svc.worker.memory.external', 'memory.rss'];
    expect(names.filter(isMetric(wanted))).toEqual(names.slice(0, 2));
  }
});
