// A Redis of queues that went back in time while an engine could not reach it, and that others have used since.

import { describe, expect, test } from 'vitest';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { ContractQueue } from '../../support/stores/contract-queue.ts';
import { startRedisQueues } from '../../support/stores/redis-queues.ts';
import { NO_REDIS_SERVER } from '../../support/stores/redis-server.ts';
import { RedisWithBackup } from '../../support/stores/redis-with-backup.ts';
import { waitFor } from '../../support/wait-for.ts';

/** More changes than were forgotten: their numbers are given again. */
const CHANGES_SINCE = 20;

/** An engine that knows of three changes after the backup, and cannot reach Redis any more. */
async function startCutOff(redis: RedisWithBackup) {
  const proxy = await CutProxy.start(redis.server.port);
  const log: string[] = [];
  const adapter = await startRedisQueues({ url: `redis://127.0.0.1:${proxy.port}`, keyPrefix: 'older:', log });
  const queue = await ContractQueue.open(adapter);
  await queue.enqueue(0);
  redis.backUp();
  for (const n of [1, 2, 3]) await queue.enqueue(n);
  proxy.close();
  return { proxy, adapter, queue, log };
}

async function useSince(redis: RedisWithBackup, queue: ContractQueue) {
  const adapter = await startRedisQueues({ url: redis.server.url, keyPrefix: 'older:' });
  const other = queue.through(adapter);
  for (let n = 0; n < CHANGES_SINCE; n++) await other.enqueue(n);
  return { adapter, queue: other };
}

describe.skipIf(NO_REDIS_SERVER)('a Redis that other engines used after it went back in time', () => {
  test('[R7] hands no job over when an engine is back that knows more', async () => {
    await using redis = await RedisWithBackup.start();
    const cutOff = await startCutOff(redis);
    await redis.goBack();
    const other = await useSince(redis, cutOff.queue);
    expect(other.adapter.recovery.trouble).toBeUndefined();
    cutOff.proxy.reopen();
    await waitFor('it notices', () => cutOff.adapter.recovery.trouble !== undefined, 15_000);
    expect(await other.queue.advance({ claim: 10 })).toMatchObject({ jobs: [], hasMore: false });
    expect(other.adapter.recovery.trouble).toContain('QUEUE_STORE_OLDER');
    expect((await other.adapter.recovery.recovery()).missing).toBe(3);
    await other.adapter.recovery.resume('run_again');
    expect(await other.queue.claim(10)).toHaveLength(10);
    // What it knew is not reported again with the next connection.
    cutOff.proxy.cut();
    await waitFor('it is back', () => cutOff.adapter.trouble === undefined, 15_000);
    expect((await other.adapter.recovery.recovery()).heldBackSinceMs).toBeUndefined();
    await Promise.all([cutOff.adapter.stop(), other.adapter.stop()]);
    await cutOff.proxy[Symbol.asyncDispose]();
  }, 60_000);

  test('[R7] hands jobs over if it was emptied: all of them are new', async () => {
    await using redis = await RedisWithBackup.start();
    const cutOff = await startCutOff(redis);
    await redis.loseAll();
    const other = await useSince(redis, cutOff.queue);
    cutOff.proxy.reopen();
    const emptied = /QUEUE_STORE_OLDER.*it was emptied/;
    await waitFor('it notices', () => cutOff.log.some((line) => emptied.test(line)), 15_000);
    expect(cutOff.adapter.recovery.trouble).toBeUndefined();
    expect(await other.queue.claim(10)).toHaveLength(10);
    const { id } = await cutOff.queue.claimOne();
    expect(await other.queue.jobLookup.find(id)).toMatchObject({ state: 'running' });
    await Promise.all([cutOff.adapter.stop(), other.adapter.stop()]);
    await cutOff.proxy[Symbol.asyncDispose]();
  }, 60_000);
});
