// Metrics of queues.

import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/effects/clock.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { enqueue, receiptOf, startQueueEngine } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Runs periodic tasks every 50 ms. */
const hasty: Clock = {
  ...systemClock,
  every: (intervalMs, task, options) => systemClock.every(Math.min(intervalMs, 50), task, options),
};

test('[Q7] The listed metrics have a gauge of the jobs that wait for a worker', async () => {
  await using engine = await startQueueEngine({}, hasty);
  await using worker = await RawWorker.connect(engine.url);
  const points = async () => {
    const { result } = await worker.call('engine::metrics::list', { metric_name: 'svc.queue.waiting_for_worker' });
    const { sdk_metrics: metrics } = result as { sdk_metrics: { data_points: unknown[] }[] };
    return metrics.flatMap((metric) => metric.data_points);
  };
  for (const n of [1, 2]) await receiptOf(enqueue(worker, 'absent', n));
  const point = (value: number) => expect.objectContaining({ value, attributes: [['queue', 'default']] });
  await waitFor(
    'the gauge is two',
    async () => (await points()).some((found) => point(2).asymmetricMatch(found)),
    15_000,
  );
  await worker.serve('absent', () => null);
  await waitFor(
    'the gauge is zero',
    async () => (await points()).some((found) => point(0).asymmetricMatch(found)),
    15_000,
  );
});
