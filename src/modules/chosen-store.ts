// The store that the configuration chooses for a module: a local one, which is opened together with all others, or
// Redis, which the module opens itself.

import type { AdapterDeclaration } from '../core/config-fields/module-declaration.ts';
import type { Cause } from '../router/builtin.ts';
import { BridgedState } from '../store/bridge/state.ts';
import { BridgedStreams } from '../store/bridge/streams.ts';
import { RedisStore } from '../store/redis/store.ts';
import type { Store, StoreEvent, StoreLimits } from '../store/thread/contract.ts';
import { type BridgeConfig, type KvConfig, locationOf, type RedisConfig, redisUrl } from './adapter-settings.ts';
import type { ChangeJobsOptions } from './change-jobs.ts';
import { adapterConfig, type ChosenAdapter, type ModuleContext } from './module.ts';

export interface ChosenStore {
  readonly store: Store;
  /** The name in the configuration, for health (K2). */
  readonly adapter: string;
  /** Where jobs of changes wait for their queue (`change-jobs.ts`). */
  readonly outbox: ChangeJobsOptions['outbox'];
  start(): Promise<void>;
  stop(): void;
  /** Reports events of the stream to `changed` until the returned function is called. Absent: not needed. */
  follow?(stream: string): () => void;
}

export interface StoreChoice {
  readonly chosen: ChosenAdapter | undefined;
  readonly kv: AdapterDeclaration<KvConfig>;
  readonly redis: AdapterDeclaration<RedisConfig>;
  /** What the store is for. */
  readonly purpose: 'state' | 'streams';
  readonly limits: Partial<StoreLimits>;
  readonly isWatched: boolean;
  readonly bridge: {
    readonly declaration: AdapterDeclaration<BridgeConfig>;
    /** A change on the engine that keeps the data, also one that was made through this engine. */
    changed(events: readonly StoreEvent[], cause: Cause): void;
  };
}

export function chooseStore(context: ModuleContext, choice: StoreChoice): ChosenStore {
  const { chosen, purpose, limits } = choice;
  const kv = adapterConfig(chosen, choice.kv);
  const adapter = chosen?.name ?? choice.kv.name;
  if (kv !== undefined) {
    const store = context.stores.open(locationOf(kv), limits);
    return { store, adapter, outbox: 'own', start: async () => {}, stop: () => {} };
  }
  const bridged = adapterConfig(chosen, choice.bridge.declaration);
  if (bridged !== undefined) return bridgedStore(context, choice, bridged);
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
    evaluateUpdate: context.threads.evaluateUpdate,
  });
  return { store, adapter, outbox: 'shared', start: () => store.start(), stop: () => store.stop() };
}

function bridgedStore(
  { clock, random, logger, router, version }: ModuleContext,
  { purpose, bridge }: StoreChoice,
  { bridge_url: url, token }: BridgeConfig,
): ChosenStore {
  const { isDropIn } = router;
  const options = { url, token, isDropIn, version, clock, random, logger, changed: bridge.changed };
  const adapter = bridge.declaration.name;
  if (purpose === 'state') {
    const store = new BridgedState({ ...options, purpose });
    return { store, adapter, outbox: undefined, start: async () => store.start(), stop: () => store.stop() };
  }
  const store = new BridgedStreams({ ...options, purpose });
  const follow = (stream: string): (() => void) => store.follow(stream);
  return { store, adapter, outbox: undefined, start: async () => store.start(), stop: () => store.stop(), follow };
}
