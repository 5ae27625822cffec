import { fields, flag, integer, type ValueOf } from '../../core/config-fields/fields.ts';
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

const MIB = 1024 * 1024;

const stateConfig = fields({
  triggers_enabled: flag({ default: true, help: 'false: no state trigger fires, useful for a bulk load' }),
  max_value_bytes: integer({
    default: 4 * MIB,
    min: 1,
    // Old and new value travel in one answer, which has to fit a frame of 16 MiB.
    max: 7 * MIB,
    help: 'Largest value, bytes of its JSON; a larger one gets PAYLOAD_TOO_LARGE',
  }),
});

export type StateConfig = ValueOf<typeof stateConfig>;

export const kvAdapter: AdapterDeclaration<KvConfig> = {
  name: 'kv',
  aliases: [],
  classes: ['modules::state::adapters::KvStore'],
  config: KV_CONFIG,
};

export const redisAdapter: AdapterDeclaration<RedisConfig> = {
  name: 'extstore',
  aliases: ['redis'],
  classes: ['modules::state::adapters::ExtStoreAdapter'],
  config: REDIS_CONFIG,
  contradictions: redisContradictions,
};

export const bridgeAdapter: AdapterDeclaration<BridgeConfig> = {
  name: 'bridge',
  aliases: [],
  classes: ['modules::state::adapters::Bridge'],
  config: BRIDGE_CONFIG,
};

export const stateDeclaration = {
  name: 'svc-state',
  aliases: ['state'],
  classes: ['modules::state::StateModule'],
  repeatable: false,
  alwaysLoaded: false,
  config: stateConfig,
  adapters: [kvAdapter, redisAdapter, bridgeAdapter],
} satisfies ModuleDeclaration<StateConfig>;
