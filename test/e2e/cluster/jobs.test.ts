// Jobs in a shared Redis, whose function runs on a worker of another engine.

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startClusterEngine, waitForEngines, waitForFunction } from '../../support/cluster/cluster-engines.ts';
import { startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

function queueEntry(prefix: string, retries = 0): string {
  const adapter = `{name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${prefix}', lease_ms: 2000}}`;
  return `  - name: svc-queue
    config: {queue_configs: {mail: {max_retries: ${retries}, concurrency: 8}}, adapter: ${adapter}}
`;
}

const enqueue = (functionId: string, n: number) => ({
  ...{ function_id: functionId, payload: { n } },
  action: { type: 'enqueue', queue: 'mail' } as const,
});

describe.skipIf(NO_NATS_SERVER)('jobs of a queue that engines share', () => {
  test('[CL25] run on the worker of another engine, each once, wherever they were enqueued', {
    timeout: 60_000,
  }, async () => {
    const prefix = newKeyPrefix();
    await using pair = await startClusterPair({ workers: queueEntry(prefix) });
    const seen: number[] = [];
    connect(pair.b.url).registerFunction('mail::send', ({ n }: { n: number }) => void seen.push(n));
    const producer = connect(pair.a.url);
    await waitForFunction(producer, 'mail::send');
    await waitForEngines(producer, 1);
    await Promise.all(Array.from({ length: 200 }, (_, n) => producer.trigger(enqueue('mail::send', n))));
    await waitFor('all have run', () => seen.length >= 200, 30_000);
    await producer.trigger({ function_id: 'mail::send', payload: { n: -1 } });
    expect([...seen].sort((a, b) => a - b)).toEqual([-1, ...Array.from({ length: 200 }, (_, n) => n)]);
    await removeKeys(prefix);
  });

  test('[CL25] are claimed by the engine that has the worker, so that they are not passed on', {
    timeout: 60_000,
  }, async () => {
    const prefix = newKeyPrefix();
    await using pair = await startClusterPair({ workers: queueEntry(prefix) });
    const seen: number[] = [];
    const far = connect(pair.b.url);
    far.registerFunction('mail::send', ({ n }: { n: number }) => void seen.push(n));
    const producer = connect(pair.a.url);
    await waitForFunction(producer, 'mail::send');
    await waitForEngines(producer, 1);
    for (let n = 0; n < 20; n++) {
      await producer.trigger(enqueue('mail::send', n));
      await waitFor('it has run', () => seen.length === n + 1);
    }
    const queues = await far.trigger<unknown, { name: string; finished_total: number }[]>('engine::queue::list', {});
    // On a busy machine 50 ms can be too short for one of them. Without the rule none was.
    expect(queues.find(({ name }) => name === 'mail')?.finished_total).toBeGreaterThan(10);
    await removeKeys(prefix);
  });

  test('[CL25] have one progress and one end on all engines', { timeout: 60_000 }, async () => {
    const prefix = newKeyPrefix();
    await using pair = await startClusterPair({ workers: queueEntry(prefix) });
    let finish = (): void => {};
    const began = new Promise<void>((resolve) => {
      connect(pair.b.url).registerFunction('mail::send', () => {
        resolve();
        return new Promise<void>((done) => {
          finish = done;
        });
      });
    });
    const callers = [connect(pair.a.url), connect(pair.b.url)];
    for (const caller of callers) {
      await waitForFunction(caller, 'mail::send');
      await waitForEngines(caller, 1);
    }
    const [producer] = callers;
    const job = await producer?.trigger<unknown, { messageReceiptId: string }>(enqueue('mail::send', 1));
    const asked = { messageReceiptId: job?.messageReceiptId };
    await began;
    const found = () =>
      Promise.all(callers.map((caller) => caller.trigger<unknown, { state: string }>('engine::queue::job', asked)));
    for (const [at, caller] of callers.entries()) {
      await caller.trigger('engine::queue::progress', { ...asked, value: { at } });
      const running = { state: 'running', progress: { at } };
      expect(await found()).toMatchObject([running, running]);
    }
    finish();
    await waitFor('both engines know its end', async () => (await found()).every(({ state }) => state === 'done'));
    const report = producer?.trigger('engine::queue::progress', { ...asked, value: 1 });
    await expect(report).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await removeKeys(prefix);
  });

  test('[CL25] are all run, and none is a dead letter, when the engine of their worker is killed', {
    timeout: 120_000,
  }, async () => {
    const prefix = newKeyPrefix();
    await using nats = await NatsServer.start();
    const options = { nats: nats.url, prefix: `t${randomUUID().slice(0, 8)}`, workers: queueEntry(prefix, 3) };
    await using one = await startClusterEngine(options);
    await using other = await startClusterEngine(options);
    const seen = new Set<number>();
    const worker = connect(`${other.url},${one.url}`);
    worker.registerFunction('mail::send', async ({ n }: { n: number }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      seen.add(n);
    });
    const producer = connect(one.url);
    await waitForFunction(producer, 'mail::send');
    await waitForEngines(producer, 1);
    const receipts = Array.from({ length: 300 }, (_, n) => producer.trigger(enqueue('mail::send', n)));
    await waitFor('some have run', () => seen.size > 20, 20_000);
    other.kill('SIGKILL');
    await Promise.all(receipts);
    await waitFor('all have run', () => seen.size === 300, 60_000);
    const dead = await producer.trigger<unknown, { dlq_depth: number }>({
      ...{ function_id: 'engine::queue::topic_stats', payload: { topic: 'mail' } },
    });
    expect(dead.dlq_depth).toBe(0);
    await removeKeys(prefix);
  });
});
