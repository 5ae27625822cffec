// The settings of the adapters that modules share: `kv`, a store on this machine, and `extstore`, a Redis.

import {
  fields,
  flag,
  integer,
  oneOf,
  optional,
  secretText,
  text,
  url,
  type ValueOf,
} from '../core/config-fields/fields.ts';
import type { FieldProblem } from '../core/config-fields/fields-check.ts';
import { STORE_FOLDER_DEFAULT } from '../store/thread/contract.ts';
import type { StoreLocation } from '../store/thread/messages.ts';

export const KV_CONFIG = fields({
  store_method: oneOf(['file_based', 'in_memory'], {
    default: 'file_based',
    help: 'file_based: on disk before it is acknowledged; in_memory: lost when the engine ends',
  }),
  file_path: text({
    default: STORE_FOLDER_DEFAULT,
    help: 'Directory of the store, shared by modules that name the same one; relative to where the engine is started',
  }),
  save_interval_ms: optional(
    integer({
      min: 100,
      max: 3_600_000,
      help: 'Accepted and not used: every acknowledged write is on disk already',
    }),
  ),
  reserve_bytes: optional(
    integer({
      min: 0,
      help: 'Free space below which writes that grow are refused; max(256 MiB, 2 % of the disk) if omitted',
    }),
  ),
  any_file_system: flag({
    default: false,
    help: 'Accept a file system that is not of this machine (network, FUSE)',
  }),
});

export type KvConfig = ValueOf<typeof KV_CONFIG>;

export function locationOf(config: KvConfig): StoreLocation {
  if (config.store_method === 'in_memory') return { kind: 'memory' };
  const { file_path: folder, reserve_bytes: reserveBytes, any_file_system: anyFileSystem } = config;
  return { kind: 'directory', folder, reserveBytes, anyFileSystem };
}

export const BRIDGE_CONFIG = fields({
  bridge_url: url({ help: 'Worker port of the engine that keeps the data: ws://host:49134' }),
  token: optional(secretText({ bytesMin: 1, help: 'bridge_token of that engine' })),
});

export type BridgeConfig = ValueOf<typeof BRIDGE_CONFIG>;

const REDIS_URL_DEFAULT = 'redis://localhost:6379';

export const REDIS_FIELDS = {
  extstore_url: optional(url({ help: `Address of the Redis; ${REDIS_URL_DEFAULT} if omitted` })),
  redis_url: optional(url({ help: 'The same under its other name' })),
  key_prefix: text({ default: 'svc:', bytesMax: 64, help: 'Prefix of every key and channel' }),
};

export const REDIS_CONFIG = fields(REDIS_FIELDS);

export type RedisConfig = ValueOf<typeof REDIS_CONFIG>;

type RedisAddress = Pick<RedisConfig, 'extstore_url' | 'redis_url'>;

export function redisContradictions<C extends RedisAddress>({
  extstore_url: named,
  redis_url: other,
}: C): FieldProblem[] {
  if (named === undefined || other === undefined || named === other) return [];
  const message = 'extstore_url and redis_url are two names of one setting: give one of them.';
  return [{ path: ['redis_url'], at: 'value', message }];
}

export function redisUrl({ extstore_url: named, redis_url: other }: RedisAddress): string {
  return named ?? other ?? REDIS_URL_DEFAULT;
}
