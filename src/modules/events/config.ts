// The module itself has no settings; its adapter decides how far events travel.

import { fields, type ValueOf } from '../../core/config-fields/fields.ts';
import type { AdapterDeclaration, ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';
import { EXTSTORE_FIELDS } from '../extstore-config.ts';

const eventsConfig = fields({});
const extstoreConfig = fields(EXTSTORE_FIELDS);

export const localAdapter: AdapterDeclaration = {
  name: 'local',
  aliases: [],
  classes: ['modules::pubsub::LocalAdapter'],
  config: fields({}),
};

export const extstoreAdapter: AdapterDeclaration<ValueOf<typeof extstoreConfig>> = {
  name: 'extstore',
  aliases: ['redis'],
  classes: ['modules::pubsub::ExtStoreAdapter'],
  config: extstoreConfig,
};

export const eventsDeclaration = {
  name: 'svc-pubsub',
  aliases: ['pubsub'],
  classes: ['modules::pubsub::PubSubModule'],
  repeatable: false,
  alwaysLoaded: false,
  config: eventsConfig,
  adapters: [localAdapter, extstoreAdapter],
} satisfies ModuleDeclaration<ValueOf<typeof eventsConfig>>;
