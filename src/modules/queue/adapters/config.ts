// The settings of the adapters of queues. The first adapter is the default.

import { fields, integer, optional, text, url, type ValueOf } from '../../../core/config-fields/fields.ts';
import type { AdapterDeclaration } from '../../../core/config-fields/module-declaration.ts';
import { EXTSTORE_FIELDS } from '../../extstore-config.ts';
import { KV_CONFIG, type KvConfig } from '../../kv-adapter.ts';

/** Fields of the builtin adapter of `iii` that have no meaning here. */
const UNUSED = 'Accepted and not used: set it in queue_configs';

export const builtinDeclaration: AdapterDeclaration<KvConfig> = {
  name: 'builtin',
  aliases: [],
  classes: ['modules::queue::BuiltinQueueAdapter'],
  config: {
    ...KV_CONFIG,
    fields: new Map([
      ...KV_CONFIG.fields,
      ...['max_attempts', 'backoff_ms', 'concurrency', 'poll_interval_ms'].map(
        (name) => [name, optional(integer({ min: 0, help: UNUSED }))] as const,
      ),
      ['mode', optional(text({ help: UNUSED }))],
    ]),
  },
};

const extstoreConfig = fields({
  ...EXTSTORE_FIELDS,
  lease_ms: integer({
    default: 30_000,
    min: 1_000,
    max: 600_000,
    help: 'Other engines take over the jobs of an engine that was silent for this time',
  }),
});

export type ExtstoreQueueConfig = ValueOf<typeof extstoreConfig>;

export const extstoreDeclaration: AdapterDeclaration<ExtstoreQueueConfig> = {
  name: 'extstore',
  aliases: ['redis'],
  classes: ['modules::queue::ExtStoreAdapter', 'modules::queue::RedisAdapter'],
  config: extstoreConfig,
};

const rabbitConfig = fields({
  amqp_url: url({ default: 'amqp://localhost:5672', help: 'Address of the RabbitMQ, with its vhost after the slash' }),
  prefix: text({ default: 'svc', bytesMax: 32, help: 'Prefix of every queue and exchange' }),
  consumer_timeout_ms: integer({
    default: 1_800_000,
    min: 60_000,
    max: 86_400_000,
    help: 'The consumer_timeout of the RabbitMQ: it gives jobs that take longer to another consumer',
  }),
  max_attempts: optional(integer({ min: 0, help: UNUSED })),
  prefetch_count: optional(integer({ min: 0, help: UNUSED })),
  queue_mode: optional(text({ help: UNUSED })),
});

export type RabbitQueueConfig = ValueOf<typeof rabbitConfig>;

export const rabbitDeclaration: AdapterDeclaration<RabbitQueueConfig> = {
  name: 'rabbitmq',
  aliases: [],
  classes: ['modules::queue::RabbitMQAdapter'],
  config: rabbitConfig,
};

export const QUEUE_ADAPTERS: readonly AdapterDeclaration[] = [
  builtinDeclaration,
  extstoreDeclaration,
  rabbitDeclaration,
];
