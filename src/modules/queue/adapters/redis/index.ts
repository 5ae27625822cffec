// The adapter `extstore`: its settings, and how the engine builds it.

import { fields, integer } from '../../../../core/config-fields/fields.ts';
import { redactUrl } from '../../../../core/config-fields/redaction.ts';
import { REDIS_FIELDS, redisContradictions, redisUrl } from '../../../adapter-settings.ts';
import { defineQueueAdapter } from '../adapter.ts';
import { RedisQueues } from './adapter.ts';

const config = fields({
  ...REDIS_FIELDS,
  lease_ms: integer({
    default: 30_000,
    min: 1_000,
    max: 600_000,
    help: 'Other engines take over the jobs of an engine that was silent for this time',
  }),
});

export const redisQueues = defineQueueAdapter(
  {
    name: 'extstore',
    aliases: ['redis'],
    classes: ['modules::queue::ExtStoreAdapter', 'modules::queue::RedisAdapter'],
    config,
    contradictions: redisContradictions,
  },
  ({ clock, logger, random }, settings) =>
    new RedisQueues({
      async createLink(options) {
        const { RedisLink } = await import('../../../../effects/redis.ts');
        return new RedisLink({ url: redisUrl(settings), purpose: 'queues', clock, logger, ...options });
      },
      keyPrefix: settings.key_prefix,
      place: `${redactUrl(redisUrl(settings))} ${settings.key_prefix}`,
      leaseMs: settings.lease_ms,
      engine: random.uuid(),
      newId: random.uuid,
      clock,
      logger,
    }),
);
