// Builds the adapter that the file chooses (K2). There is no fallback.

import { extstoreUrl } from '../../extstore-config.ts';
import { placeOf } from '../../kv-adapter.ts';
import { adapterConfig, type ChosenAdapter, type ModuleContext } from '../../module.ts';
import type { QueueAdapter } from './adapter.ts';
import { builtinAdapter } from './builtin.ts';
import {
  builtinDeclaration,
  type ExtstoreQueueConfig,
  extstoreDeclaration,
  type RabbitQueueConfig,
  rabbitDeclaration,
} from './config.ts';
import { RabbitQueues } from './rabbit/adapter.ts';
import { RedisQueues } from './redis/adapter.ts';

export function createAdapter(context: ModuleContext, chosen: ChosenAdapter | undefined): QueueAdapter {
  const builtin = adapterConfig(chosen, builtinDeclaration);
  if (builtin !== undefined) return builtinAdapter(context.stores.open(placeOf(builtin)), context.clock);
  const extstore = adapterConfig(chosen, extstoreDeclaration);
  if (extstore !== undefined) return redisQueues(context, extstore);
  const rabbit = adapterConfig(chosen, rabbitDeclaration);
  if (rabbit !== undefined) return rabbitQueues(context, rabbit);
  throw new Error(`The loader accepted an adapter of queues: ${chosen?.name}`);
}

function redisQueues({ clock, logger, random }: ModuleContext, config: ExtstoreQueueConfig): QueueAdapter {
  return new RedisQueues({
    async createLink(scripts, onUp) {
      const { RedisLink } = await import('../../../effects/redis.ts');
      return new RedisLink({ url: extstoreUrl(config), purpose: 'queues', clock, logger, scripts, onUp });
    },
    keyPrefix: config.key_prefix,
    leaseMs: config.lease_ms,
    engine: random.uuid(),
    clock,
    logger,
  });
}

function rabbitQueues({ clock, logger, random }: ModuleContext, config: RabbitQueueConfig): QueueAdapter {
  return new RabbitQueues({
    async createLink(purpose, onUp) {
      const { RabbitLink } = await import('../../../effects/rabbitmq.ts');
      return new RabbitLink({ url: config.amqp_url, purpose, clock, logger, onUp });
    },
    prefix: config.prefix,
    consumerTimeoutMs: config.consumer_timeout_ms,
    clock,
    random,
    logger,
  });
}
