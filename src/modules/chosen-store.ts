// The store that the configuration chooses for a module: a local one, which is opened together with all others, or
// Redis, which the module opens itself.

import type { AdapterDeclaration } from '../core/config-fields/module-declaration.ts';
import { RedisStore } from '../store/redis/store.ts';
import type { Store, StoreLimits } from '../store/thread/contract.ts';
import { type KvConfig, locationOf, type RedisConfig, redisUrl } from './adapter-settings.ts';
import { adapterConfig, type ChosenAdapter, type ModuleContext } from './module.ts';

export interface ChosenStore {
  readonly store: Store;
  /** The name in the configuration, for health (K2). */
  readonly adapter: string;
  start(): Promise<void>;
  stop(): void;
}

export interface StoreChoice {
  readonly chosen: ChosenAdapter | undefined;
  readonly kv: AdapterDeclaration<KvConfig>;
  readonly redis: AdapterDeclaration<RedisConfig>;
  /** What the store is for. */
  readonly purpose: string;
  readonly limits: Partial<StoreLimits>;
  readonly isWatched: boolean;
}

export function chooseStore(context: ModuleContext, choice: StoreChoice): ChosenStore {
  const { chosen, purpose, limits } = choice;
  const kv = adapterConfig(chosen, choice.kv);
  const adapter = chosen?.name ?? choice.kv.name;
  if (kv !== undefined) {
    const store = context.stores.open(locationOf(kv), limits);
    return { store, adapter, start: async () => {}, stop: () => {} };
  }
  const redis = adapterConfig(chosen, choice.redis);
  if (redis === undefined)
    throw new Error(`The loader accepted an adapter of ${purpose} that does not exist: ${adapter}`);
  const { clock, random, logger, router } = context;
  const store = new RedisStore({
    url: () => redisUrl(redis),
    keyPrefix: redis.key_prefix,
    purpose,
    limits,
    isDropIn: router.isDropIn,
    isWatched: choice.isWatched,
    clock,
    random,
    logger,
    counters: router,
  });
  return { store, adapter, start: () => store.start(), stop: () => store.stop() };
}
