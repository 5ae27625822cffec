// Failures specific to queues in Redis: several engines on one Redis, and engines that fell silent.

import { afterAll, describe, expect, test } from 'vitest';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { ContractQueue, jobsOf } from '../../support/stores/contract-queue.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { startRedisQueues } from '../../support/stores/redis-queues.ts';
import { NO_REDIS_SERVER, RedisServer, SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const keyPrefix = newKeyPrefix();
const LEASE_MS = 1_000;

afterAll(() => removeKeys(keyPrefix));

describe('two engines on the queues of one Redis', () => {
  test('[Q11] each job goes to one of them, and the other learns of jobs that it did not enqueue', async () => {
    const news: string[] = [];
    const one = await startRedisQueues({ keyPrefix });
    const two = await startRedisQueues({ keyPrefix, changed: (queue) => news.push(queue) });
    const left = await ContractQueue.open(one);
    const right = left.through(two);
    const receipts = await Promise.all(Array.from({ length: 50 }, (_, n) => left.receipt(n)));
    await waitFor('the other is notified', () => news.includes(left.name));
    const jobs = [...(await left.claim(20)), ...(await right.claim(50))];
    expect(jobs.map(({ id }) => id).sort()).toEqual(receipts);
    await Promise.all([one.stop(), two.stop()]);
  });

  test('[Q7] one learns of functions that only jobs of the other wait for', async () => {
    const prefix = newKeyPrefix();
    const one = await startRedisQueues({ keyPrefix: prefix });
    const left = await ContractQueue.open(one);
    await left.enqueue(1);
    await left.settle(await left.claimOne(), 'park', { isUnsent: true });
    expect(await one.sharing.parkedElsewhere(left.name)).toEqual([]);
    const two = await startRedisQueues({ keyPrefix: prefix });
    expect(await two.sharing.parkedElsewhere(left.name)).toEqual(['f']);
    expect(await two.wake(left.name, 'f')).toBe(1);
    await Promise.all([one.stop(), two.stop()]);
    await removeKeys(prefix);
  });

  test('[F1] a fifo queue runs one job, wherever it runs', async () => {
    const [one, two] = [await startRedisQueues({ keyPrefix }), await startRedisQueues({ keyPrefix })];
    const left = await ContractQueue.open(one, { groupField: 'g' });
    const right = left.through(two);
    for (const g of ['a', 'b']) await left.enqueue({ g });
    const job = await left.claimOne();
    expect(await right.advance({ claim: 1 })).toMatchObject({ jobs: [], hasMore: false });
    await left.settle(job, 'done');
    expect((await right.claimOne()).payload.toString()).toBe('{"g":"b"}');
    await Promise.all([one.stop(), two.stop()]);
  });

  test('[R2] [Q8] jobs of a silent engine go back without using an attempt, and its outcomes no longer count', async () => {
    const url = new URL(SHARED_REDIS);
    await using proxy = await CutProxy.start(Number(url.port));
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    const silent = await startRedisQueues({ url: url.toString(), keyPrefix, leaseMs: LEASE_MS });
    const left = await ContractQueue.open(silent);
    await left.enqueue(1);
    const job = await left.claimOne();
    proxy.close();
    const changed: string[] = [];
    const other = await startRedisQueues({ keyPrefix, leaseMs: LEASE_MS, changed: (queue) => changed.push(queue) });
    const right = left.through(other);
    const again = await waitFor(
      'the job comes to the other engine',
      async () => {
        const { jobs } = await right.advance({ claim: 1 });
        return jobs[0];
      },
      10 * LEASE_MS,
    );
    expect(again).toMatchObject({ id: job.id, attempt: 1 });
    expect(changed).toContain(left.name);
    proxy.reopen();
    await waitFor('the silent one is back', () => silent.trouble === undefined);
    expect((await left.settle(job, 'done')).stale).toBe(1);
    expect((await right.settle(again, 'done')).stale).toBe(0);
    await Promise.all([silent.stop(), other.stop()]);
  });
});

describe.skipIf(NO_REDIS_SERVER)(`a Redis that ends ${NO_REDIS_SERVER ?? ''}`, () => {
  test('[Q8] [K3] outcomes sent while it was away are sent when it is back, and no claim is lost', async () => {
    using folder = new TemporaryFolder();
    await using redis = await RedisServer.reserve();
    await redis.start(folder.path);
    const adapter = await startRedisQueues({ url: redis.url, keyPrefix: 'svc:' });
    const queue = await ContractQueue.open(adapter);
    for (const n of [1, 2]) await queue.receipt(n);
    const job = await queue.claimOne();
    await redis.stop();
    const { seq, token } = job;
    const step = queue.advance({ settled: [{ seq, token, how: 'done' }], claim: 1 });
    expect(await queue.enqueue(3)).toMatchObject({ reason: 'STORAGE_UNAVAILABLE' });
    await redis.start(folder.path);
    const { jobs, stale } = await step;
    expect([jobs.map(({ payload }) => payload.toString()), stale]).toEqual([['2'], 0]);
    expect(jobsOf(await queue.stats())).toBe(1);
    await adapter.stop();
  });

  test('[PD-55] shows in health how its settings weaken the promise', async () => {
    await using redis = await RedisServer.start();
    const log: string[] = [];
    const adapter = await startRedisQueues({ url: redis.url, keyPrefix: 'svc:', log });
    await waitFor('its settings are read', () => adapter.location.weaker_promise);
    expect(adapter.location).toMatchObject({
      address: redis.url,
      weaker_promise: expect.stringContaining('appendonly is off'),
    });
    expect(log.join('')).toContain('Redis promises less for queues');
    await adapter.stop();
  });

  test('[Q2] [D4] a full one takes no jobs, and running jobs end all the same', async () => {
    await using redis = await RedisServer.start();
    const adapter = await startRedisQueues({ url: redis.url, keyPrefix: 'svc:' });
    const queue = await ContractQueue.open(adapter);
    for (const n of [1, 2, 3]) await queue.receipt(n);
    const [one, two] = [await queue.claimOne(), await queue.claimOne()];
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    expect(await queue.enqueue(4)).toMatchObject({ reason: 'STORAGE_FULL' });
    expect(await queue.settle(one, 'done')).toMatchObject({ stale: 0 });
    expect(await queue.settle(two, 'retry', { afterMs: 1 })).toMatchObject({ stale: 0 });
    expect((await queue.claimAll(2)).map(({ attempt }) => attempt).sort()).toEqual([1, 2]);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await queue.receipt(5);
    await adapter.stop();
  });
});
