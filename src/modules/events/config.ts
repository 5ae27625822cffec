// The module itself has no settings; its adapter decides how far events travel.

import { fields, type ValueOf } from '../../core/config-fields/fields.ts';
import type { AdapterDeclaration, ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';
import { REDIS_FIELDS, redisContradictions } from '../adapter-settings.ts';

const eventsConfig = fields({});
const redisConfig = fields(REDIS_FIELDS);

export const localAdapter: AdapterDeclaration = {
  name: 'local',
  aliases: [],
  classes: ['modules::pubsub::LocalAdapter'],
  config: fields({}),
};

export const redisAdapter: AdapterDeclaration<ValueOf<typeof redisConfig>> = {
  name: 'extstore',
  aliases: ['redis'],
  classes: ['modules::pubsub::ExtStoreAdapter'],
  config: redisConfig,
  contradictions: redisContradictions,
};

export const eventsDeclaration = {
  name: 'svc-pubsub',
  aliases: ['pubsub'],
  classes: ['modules::pubsub::PubSubModule'],
  repeatable: false,
  alwaysLoaded: false,
  config: eventsConfig,
  adapters: [localAdapter, redisAdapter],
} satisfies ModuleDeclaration<ValueOf<typeof eventsConfig>>;
