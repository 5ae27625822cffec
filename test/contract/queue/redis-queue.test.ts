import { afterAll } from 'vitest';
import type { RedisQueues } from '../../../src/modules/queue/adapters/redis/adapter.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { startRedisQueues } from '../../support/stores/redis-queues.ts';
import { queueContract } from './queue-contract.ts';

const keyPrefix = newKeyPrefix();
let adapter: RedisQueues | undefined;

queueContract('Redis', {
  async create() {
    adapter ??= await startRedisQueues({ keyPrefix });
    return adapter;
  },
  lacks: ['payloads', 'groups', 'localStore', 'attemptHistory'],
});

afterAll(async () => {
  await adapter?.stop();
  await removeKeys(keyPrefix);
});
