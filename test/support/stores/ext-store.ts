// A store in the Redis of the machine, with its own keys, which are removed afterwards.

import { randomUUID } from 'node:crypto';
import { createClient } from '@redis/client';
import { Counters } from '../../../src/core/registry/counters.ts';
import type { UpdateTask } from '../../../src/core/update-ops/update-task.ts';
import { type Clock, systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { systemRandom } from '../../../src/effects/random.ts';
import { createPool, type Pool } from '../../../src/effects/threads/pool.ts';
import { RedisStore } from '../../../src/store/redis/store.ts';
import type { StoreLimits } from '../../../src/store/thread/contract.ts';
import { SHARED_REDIS } from './redis-server.ts';

export interface ExtStoreSetup {
  readonly url?: string;
  readonly keyPrefix?: string;
  readonly limits?: Partial<StoreLimits>;
  readonly isDropIn?: boolean;
  readonly clock?: Clock;
  readonly log?: string[];
}

export function newKeyPrefix(): string {
  return `svc-test:${randomUUID()}:`;
}

let openPool: Pool | undefined;

/** Its threads end after an idle minute. */
function pool(): Pool {
  openPool ??= createPool(1);
  return openPool;
}

/** Not started yet. */
export function createExtStore({
  url = SHARED_REDIS,
  keyPrefix = newKeyPrefix(),
  ...setup
}: ExtStoreSetup): RedisStore {
  const { limits = {}, isDropIn = false, clock = systemClock, log = [] } = setup;
  const write = (line: string): void => void log.push(line);
  const logger = createLogger({ level: 'debug', format: 'default', clock: systemClock, write });
  const random = systemRandom;
  const counters = new Counters();
  const own = { purpose: 'state' as const, limits, isDropIn, isWatched: true };
  const evaluateUpdate = (task: UpdateTask) => pool().evaluateUpdate(task);
  return new RedisStore({ url: () => url, keyPrefix, ...own, clock, random, logger, counters, evaluateUpdate });
}

export async function startExtStore(setup: ExtStoreSetup = {}): Promise<RedisStore> {
  const store = createExtStore(setup);
  await store.start();
  return store;
}

export async function removeKeys(keyPrefix: string, url = SHARED_REDIS): Promise<void> {
  const client = await createClient({ url }).connect();
  for await (const keys of client.scanIterator({ MATCH: `${keyPrefix}*`, COUNT: 1_000 })) {
    if (keys.length > 0) await client.unlink(keys);
  }
  client.destroy();
}
