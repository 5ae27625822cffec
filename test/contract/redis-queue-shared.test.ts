// What is Redis's own trouble with queues: several engines on one Redis, and engines that are heard of no more.

import { afterAll, describe, expect, test } from 'vitest';
import { ContractQueue, jobsOf } from '../support/contract-queue.ts';
import { CutProxy } from '../support/cut-proxy.ts';
import { newKeyPrefix, removeKeys } from '../support/ext-store.ts';
import { startRedisQueues } from '../support/redis-queues.ts';
import { NO_REDIS_SERVER, RedisServer, SHARED_REDIS } from '../support/redis-server.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

const keyPrefix = newKeyPrefix();
const LEASE_MS = 1_000;

afterAll(() => removeKeys(keyPrefix));

describe('two engines on the queues of one Redis', () => {
  test('[Q11] each job goes to one of them, and the other hears of jobs that it did not enqueue', async () => {
    const news: string[] = [];
    const one = await startRedisQueues({ keyPrefix });
    const two = await startRedisQueues({ keyPrefix, changed: (queue) => news.push(queue) });
    const left = await ContractQueue.open(one);
    const right = left.through(two);
    const receipts = await Promise.all(Array.from({ length: 50 }, (_, n) => left.receipt(n)));
    await waitFor('the other is told', () => news.includes(left.name));
    const jobs = [...(await left.claim(20)), ...(await right.claim(50))];
    expect(jobs.map(({ id }) => id).sort()).toEqual(receipts);
    await Promise.all([one.stop(), two.stop()]);
  });

  test('[Q7] one is told of functions that only jobs of the other wait for', async () => {
    const prefix = newKeyPrefix();
    const one = await startRedisQueues({ keyPrefix: prefix });
    const left = await ContractQueue.open(one);
    await left.enqueue(1);
    await left.settle(await left.claimOne(), 'park', { isUnsent: true });
    expect(await one.parkedElsewhere(left.name)).toEqual([]);
    const two = await startRedisQueues({ keyPrefix: prefix });
    expect(await two.parkedElsewhere(left.name)).toEqual(['f']);
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

  test('[R2] [Q8] jobs of an engine that is heard of no more go back without an attempt, and its word counts no more', async () => {
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
    const [again] = await waitFor(
      'the job comes to the other engine',
      async () => {
        const { jobs } = await right.advance({ claim: 1 });
        return jobs.length > 0 && jobs;
      },
      10 * LEASE_MS,
    );
    expect(again).toMatchObject({ id: job.id, attempt: 1 });
    expect(changed).toContain(left.name);
    proxy.reopen();
    await waitFor('the silent one is back', () => silent.trouble === undefined);
    expect((await left.settle(job, 'done')).stale).toBe(1);
    if (again !== undefined) expect((await right.settle(again, 'done')).stale).toBe(0);
    await Promise.all([silent.stop(), other.stop()]);
  });
});

describe.skipIf(NO_REDIS_SERVER)(`a Redis that ends ${NO_REDIS_SERVER ?? ''}`, () => {
  test('[Q8] [K3] what was told while it was away is told when it is back, and no claim is lost', async () => {
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

  test('[decisions 55] tells in health what its settings promise less', async () => {
    await using redis = await RedisServer.start();
    const log: string[] = [];
    const adapter = await startRedisQueues({ url: redis.url, keyPrefix: 'svc:', log });
    await waitFor('its settings are read', () => adapter.facts.weaker_promise);
    expect(adapter.facts).toMatchObject({
      address: redis.url,
      weaker_promise: expect.stringContaining('appendonly is off'),
    });
    expect(log.join('')).toContain('Redis promises less for queues');
    await adapter.stop();
  });

  test('[Q2] [D4] one that is full takes no jobs, and what runs ends all the same', async () => {
    await using redis = await RedisServer.start();
    const adapter = await startRedisQueues({ url: redis.url, keyPrefix: 'svc:' });
    const queue = await ContractQueue.open(adapter);
    for (const n of [1, 2, 3]) await queue.receipt(n);
    const [one, two] = await queue.claim(2);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    expect(await queue.enqueue(4)).toMatchObject({ reason: 'STORAGE_FULL' });
    if (one !== undefined) expect(await queue.settle(one, 'done')).toMatchObject({ stale: 0 });
    if (two !== undefined) expect(await queue.settle(two, 'retry', { afterMs: 1 })).toMatchObject({ stale: 0 });
    expect((await queue.claimAll(2)).map(({ attempt }) => attempt).sort()).toEqual([1, 2]);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await queue.receipt(5);
    await adapter.stop();
  });
});
