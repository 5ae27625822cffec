// The stream server: one port, one store.

import { fields, integer, listOf, optional, text, type ValueOf } from '../../core/config-fields/fields.ts';
import type { AdapterDeclaration, ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';
import {
  BRIDGE_CONFIG,
  type BridgeConfig,
  KV_CONFIG,
  type KvConfig,
  REDIS_CONFIG,
  type RedisConfig,
  redisContradictions,
} from '../adapter-settings.ts';
import { TLS_FIELD } from '../tls-settings.ts';

const streamConfig = fields({
  port: integer({ min: 0, max: 65_535, default: 3112, help: 'Port for stream clients; 0 takes any free one' }),
  host: text({ default: '0.0.0.0', help: 'Address to listen on; set auth_function for any but loopback' }),
  tls: TLS_FIELD,
  auth_function: optional(text({ help: 'Function that decides who may connect; without it every client may' })),
  allowed_origins: listOf(text(), {
    default: [],
    help: 'Web origins that may connect; if empty, pages of the same host',
  }),
});

export type StreamConfig = ValueOf<typeof streamConfig>;

export const kvAdapter: AdapterDeclaration<KvConfig> = {
  name: 'kv',
  aliases: [],
  classes: ['modules::stream::adapters::KvStore'],
  config: KV_CONFIG,
};

export const redisAdapter: AdapterDeclaration<RedisConfig> = {
  name: 'extstore',
  aliases: ['redis'],
  classes: ['modules::stream::adapters::ExtStoreAdapter'],
  config: REDIS_CONFIG,
  contradictions: redisContradictions,
};

export const bridgeAdapter: AdapterDeclaration<BridgeConfig> = {
  name: 'bridge',
  aliases: [],
  classes: ['modules::stream::adapters::Bridge'],
  config: BRIDGE_CONFIG,
};

export const streamDeclaration = {
  name: 'svc-stream',
  aliases: ['stream'],
  classes: ['modules::stream::StreamModule'],
  repeatable: false,
  alwaysLoaded: false,
  config: streamConfig,
  adapters: [kvAdapter, redisAdapter, bridgeAdapter],
} satisfies ModuleDeclaration<StreamConfig>;
