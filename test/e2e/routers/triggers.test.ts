// Triggers of workers on different routers of one process.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { queueYaml, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Enough that each of two routers has some of the connections. */
const WORKERS = 8;

test('[RO5] a subscription that its worker takes back ends at once, whichever router the worker is on', async () => {
  await using engine = await startTestEngine({ yaml: queueYaml(), threads: 2 });
  await using publisher = await RawWorker.connect(engine.url);
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(engine.url)));
  const seen: unknown[] = [];
  const stayed: unknown[] = [];
  for (const [at, worker] of workers.entries()) {
    const binding = { id: `s${at}`, trigger_type: 'durable:subscriber', function_id: `f::${at}` };
    await worker.serve(`f::${at}`, (data) => (at === 0 ? stayed : seen).push(data));
    worker.send({ type: 'registertrigger', ...binding, config: { topic: 'orders' } });
    await worker.settled();
    if (at > 0) worker.send({ type: 'unregistertrigger', ...binding });
    await worker.settled();
  }
  await publisher.call('svc::durable::publish', { topic: 'orders', data: 'later' });
  await waitFor('the subscriber that stayed has it', () => stayed.length === 1, 30_000);
  await waitFor('no copy waits', async () => (await statsOf(publisher, 'orders')).depth === 0, 30_000);
  expect(seen).toEqual([]);
  for (const worker of workers) await worker[Symbol.asyncDispose]();
});
