// A store with its real thread, without an engine.

import { Counters } from '../../../src/core/registry/counters.ts';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { systemRandom } from '../../../src/effects/random.ts';
import { createOwnThread } from '../../../src/effects/threads/pool.ts';
import { StoreRegistry } from '../../../src/store/directory/registry.ts';
import type { Store } from '../../../src/store/thread/contract.ts';
import type { StoreLocation } from '../../../src/store/thread/messages.ts';

export interface OpenedTestStore {
  readonly store: Store;
  readonly registry: StoreRegistry;
  readonly counters: Counters;
  readonly log: readonly string[];
  /** Reasons of failures that would end an engine. */
  readonly failures: readonly string[];
}

/** `isShared`: other routers can send batches to its thread. */
export async function openTestStore(
  location: StoreLocation,
  isDropIn = false,
  isShared = false,
): Promise<OpenedTestStore> {
  const log: string[] = [];
  const failures: string[] = [];
  const counters = new Counters();
  const logger = createLogger({
    level: 'debug',
    format: 'default',
    clock: systemClock,
    write: (line) => log.push(line),
  });
  const registry = new StoreRegistry({
    clock: systemClock,
    random: systemRandom,
    logger,
    counters,
    isDropIn,
    createWorker: () => createOwnThread('store', isShared),
    onFailure: (reason) => failures.push(reason),
  });
  const store = registry.open(location);
  await registry.start();
  return { store, registry, counters, log, failures };
}

export function directory(folder: string, reserveBytes?: number): StoreLocation {
  return { kind: 'directory', folder, reserveBytes, anyFileSystem: false };
}
