// Where claims of ticks are kept, and the config of a `cron` trigger.

import { fields, flag, integer, oneOf, optional, text, type ValueOf } from '../../core/config-fields/fields.ts';
import type { AdapterDeclaration, ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';
import { ID_BYTES_MAX } from '../../protocol/frames/limits.ts';
import { KV_CONFIG, type KvConfig, REDIS_FIELDS, redisContradictions } from '../adapter-settings.ts';
import { CONDITION_FIELD } from '../trigger-config.ts';

export const kvAdapter: AdapterDeclaration<KvConfig> = {
  name: 'kv',
  aliases: [],
  classes: ['modules::cron::KvCronAdapter'],
  config: {
    ...KV_CONFIG,
    fields: new Map([
      ...KV_CONFIG.fields,
      ['lock_ttl_ms', optional(integer({ min: 1, help: 'Accepted and not used: a claim never expires' }))],
      ['lock_index', optional(text({ help: 'Accepted and not used: claims have their own place in the store' }))],
    ]),
  },
};

const redisConfig = fields(REDIS_FIELDS);

export const redisAdapter: AdapterDeclaration<ValueOf<typeof redisConfig>> = {
  name: 'extstore',
  aliases: ['redis'],
  classes: ['modules::cron::ExtStoreCronAdapter'],
  config: redisConfig,
  contradictions: redisContradictions,
};

const cronConfig = fields({});

export const cronDeclaration = {
  name: 'svc-cron',
  aliases: ['cron'],
  classes: ['modules::cron::CronModule'],
  repeatable: false,
  alwaysLoaded: false,
  config: cronConfig,
  adapters: [kvAdapter, redisAdapter],
} satisfies ModuleDeclaration<ValueOf<typeof cronConfig>>;

export const triggerConfig = fields({
  expression: text(),
  timezone: text({ default: 'UTC', help: 'IANA name' }),
  misfire: oneOf(['skip', 'once'], { default: 'skip' }),
  overlap: flag({ default: true }),
  queue: optional(text({ bytesMax: ID_BYTES_MAX, help: 'Each tick becomes a job of this queue' })),
  condition_function_id: CONDITION_FIELD,
});

export type CronTriggerConfig = ValueOf<typeof triggerConfig>;
