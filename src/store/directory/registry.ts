// The stores of one engine. Modules that name the same directory share one store (PD-10), and so do all modules that
// keep their data in memory.
//
// Modules request a store while they are built. All stores are opened together before the first module starts, and
// closed after the last one has stopped.

import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Counters } from '../../core/registry/counters.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { Random } from '../../effects/random.ts';
import { FileSystemSpace } from '../kv/disk-space.ts';
import { MEMORY, StoreClient, type StoreWorker } from '../thread/client.ts';
import { STORE_FOLDER_DEFAULT, STORE_LIMITS, type Store, type StoreLimits } from '../thread/contract.ts';
import type { StoreLocation } from '../thread/messages.ts';
import { type BackupList, BackupRefused, type BackupSource, backUp } from './backup.ts';
import { DATA_FILE, type DirectoryLock, lockDirectory, StoreInUse } from './store-folder.ts';

export interface RegistryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly random: Random;
  readonly isDropIn: boolean;
  readonly createWorker: () => StoreWorker;
  /** A store failed: the engine must end with code 74 (D3). */
  readonly onFailure: (reason: string) => void;
}

/** A store could not be opened and was left unchanged (R5). */
export class StoreDamaged extends Error {}

interface OpenStore {
  location: StoreLocation;
  limits: StoreLimits;
  readonly client: StoreClient;
  readonly worker: StoreWorker;
  lock: DirectoryLock | undefined;
  isOpen: boolean;
  readonly timers: (() => void)[];
}

/** An unclosed store loses nothing: what was acknowledged is on disk. */
const CLOSE_MS_MAX = 5_000;
const SPACE_CHECK_INTERVAL_MS = 1_000;
/** The size of an ordinary batch: health reports a problem if there is no room for one. */
const ORDINARY_BYTES = 1024 * 1024;
const ORDINARY_COMMANDS = 64;
const STALE_READERS_INTERVAL_MS = 60_000;

export class StoreRegistry {
  readonly #options: RegistryOptions;
  readonly #stores = new Map<string, OpenStore>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** The store of that place. It answers after `start` has resolved. */
  open(location: StoreLocation, limits: Partial<StoreLimits> = {}): Store {
    const name = location.kind === 'memory' ? MEMORY : realPathOf(location.folder);
    const known = this.#stores.get(name);
    if (known !== undefined) {
      known.location = combine(known.location, location);
      known.limits = { ...known.limits, ...limits };
      return known.client;
    }
    const { clock, logger, counters, onFailure, createWorker } = this.#options;
    const worker = createWorker();
    const client = new StoreClient({ name, worker, clock, logger, counters, onFailure });
    const ownLocation = location.kind === 'memory' ? location : { ...location, folder: name };
    const limitsOfAll = { ...STORE_LIMITS, ...limits };
    this.#stores.set(name, {
      location: ownLocation,
      limits: limitsOfAll,
      client,
      worker,
      lock: undefined,
      isOpen: false,
      timers: [],
    });
    return client;
  }

  /** The store of the engine's own data: the default store, or the first one on disk. */
  get durable(): Store | undefined {
    const onDisk = [...this.#stores].filter(([, { location }]) => location.kind === 'directory');
    const usual = onDisk.find(([name]) => name === realPathOf(STORE_FOLDER_DEFAULT));
    return (usual ?? onDisk[0])?.[1].client;
  }

  /** For the client of another router: batches that are sent there run on the thread of that store. */
  async portTo(store: Store): Promise<MessagePort> {
    const found = [...this.#stores.values()].find(({ client }) => client === store);
    if (found === undefined) throw new Error('The store is not one of the stores of this engine');
    const { port1, port2 } = new MessageChannel();
    await found.worker.run({ kind: 'attach', port: port1 }, [port1]);
    return port2;
  }

  /** The number of waiting commands of the store with the most. */
  get waitingCommands(): number {
    let most = 0;
    for (const { client } of this.#stores.values()) most = Math.max(most, client.waitingCommands);
    return most;
  }

  /** Opens the stores that are not open yet: all of them, or none. Rejects with `StoreInUse` or `StoreDamaged`. */
  async start(): Promise<void> {
    const closed = [...this.#stores].filter(([, { isOpen }]) => !isOpen);
    try {
      for (const [, store] of closed) await this.#start(store);
    } catch (error) {
      for (const [name] of closed) this.#stores.delete(name);
      await this.#close(closed);
      throw error;
    }
  }

  /** Copies every store that lies in a directory, while it keeps working (D8). */
  async backUp(target: string): Promise<BackupList> {
    const sources = [...this.#stores.values()].flatMap(({ location, worker }): BackupSource[] =>
      location.kind === 'memory' ? [] : [{ folder: location.folder, copyTo: (folder) => copyOn(worker, folder) }],
    );
    return await backUp(target, sources, this.#options.clock.nowMs());
  }

  /** Waits for all answers, unless a disk hangs: it must not delay the end of the engine (G1). */
  async close(): Promise<void> {
    const stores = [...this.#stores];
    this.#stores.clear();
    await this.#close(stores);
  }

  async #close(stores: readonly (readonly [name: string, store: OpenStore])[]): Promise<void> {
    const { clock, logger } = this.#options;
    await Promise.all(
      stores.map(async ([name, store]) => {
        let cancel = (): void => {};
        const tooLate = new Promise<void>((resolve) => {
          cancel = clock.after(CLOSE_MS_MAX, () => {
            logger.error('A store does not answer and is left unclosed', { store: name });
            resolve();
          });
        });
        await Promise.race([closeStore(store), tooLate]);
        cancel();
      }),
    );
  }

  async #start(store: OpenStore): Promise<void> {
    const { location, limits, worker } = store;
    const { random, isDropIn, logger } = this.#options;
    if (location.kind === 'directory') {
      store.lock = await makeOurs(location.folder);
    } else {
      logger.warn('in_memory: what is stored is lost when the engine ends');
    }
    const opening = { location, limits, isDropIn, newEpoch: random.uuid() };
    const answer = await worker.run({ kind: 'open', opening });
    if ('refusal' in answer) throw new StoreDamaged(answer.refusal);
    store.isOpen = true;
    if (location.kind === 'directory')
      this.#watch(store, new FileSystemSpace(join(location.folder, DATA_FILE), location.reserveBytes));
  }

  #watch({ client, worker, timers }: OpenStore, space: FileSystemSpace): void {
    const { clock } = this.#options;
    timers.push(
      clock.every(SPACE_CHECK_INTERVAL_MS, () => {
        try {
          client.noteSpace(space.left(ORDINARY_BYTES, ORDINARY_COMMANDS));
        } catch (error) {
          // The file is gone, or its disk.
          client.fail(String(error));
        }
      }),
      clock.every(STALE_READERS_INTERVAL_MS, () => {
        worker.run({ kind: 'clearReaders' }).catch((error: unknown) => client.fail(String(error)));
      }),
    );
  }
}

/** Creates the folder and takes its lock. Rejects with `StoreInUse`, or with the reason of the failure. */
async function makeOurs(folder: string): Promise<DirectoryLock> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return await lockDirectory(folder);
  } catch (error) {
    if (error instanceof StoreInUse) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreDamaged(`The store in ${folder} cannot be opened: ${reason}`);
  }
}

async function closeStore({ client, worker, lock, timers }: OpenStore): Promise<void> {
  for (const cancel of timers) cancel();
  await client.idle();
  // The thread of a failed store may be gone already, and then has nothing open.
  await worker.run({ kind: 'close' }).catch(() => {});
  await worker.close();
  lock?.release();
}

async function copyOn(worker: StoreWorker, folder: string): Promise<void> {
  const answer = await worker.run({ kind: 'copy', folder });
  if ('refusal' in answer) throw new BackupRefused(answer.refusal);
}

/** Two spellings of one directory are one store. */
function realPathOf(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) ? realpathSync(path) : path;
}

/** Combines the settings of two modules: the safer value of each, unless the riskier one was set explicitly. */
function combine(one: StoreLocation, other: StoreLocation): StoreLocation {
  if (one.kind === 'memory' || other.kind === 'memory') return one;
  const reserves = [one.reserveBytes, other.reserveBytes].filter((bytes) => bytes !== undefined);
  return {
    ...one,
    reserveBytes: reserves.length === 0 ? undefined : Math.max(...reserves),
    anyFileSystem: one.anyFileSystem || other.anyFileSystem,
  };
}
