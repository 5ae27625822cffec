import { afterAll } from 'vitest';
import type { RedisStore } from '../../../src/store/redis/store.ts';
import { newKeyPrefix, removeKeys, startExtStore } from '../../support/stores/ext-store.ts';
import { streamContract } from './stream-contract.ts';

const keyPrefix = newKeyPrefix();
let store: RedisStore;

streamContract('Redis', async () => {
  store = await startExtStore({ keyPrefix });
  const restart = async () => {
    store.stop();
    store = await startExtStore({ keyPrefix });
    return store;
  };
  return { store, restart };
});

afterAll(async () => {
  store.stop();
  await removeKeys(keyPrefix);
});
