// The adapter `extstore` of queues, on the Redis of the machine or of the test.

import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { RedisLink } from '../../../src/effects/redis.ts';
import { RedisQueues } from '../../../src/modules/queue/adapters/redis/adapter.ts';
import { SHARED_REDIS } from './redis-server.ts';

export interface RedisQueuesSetup {
  readonly url?: string;
  readonly keyPrefix: string;
  readonly leaseMs?: number;
  readonly log?: string[];
  readonly changed?: (queue: string) => void;
}

export async function startRedisQueues(setup: RedisQueuesSetup): Promise<RedisQueues> {
  const { url = SHARED_REDIS, keyPrefix, leaseMs = 30_000, log = [], changed = () => {} } = setup;
  const clock = systemClock;
  const logger = createLogger({ level: 'debug', format: 'default', clock, write: (line) => void log.push(line) });
  const adapter = new RedisQueues({
    createLink: async (options) => new RedisLink({ url, purpose: 'queues', clock, logger, ...options }),
    keyPrefix,
    place: `${url} ${keyPrefix}`,
    leaseMs,
    engine: randomUUID(),
    newId: randomUUID,
    clock,
    logger,
  });
  await adapter.start(changed);
  return adapter;
}
