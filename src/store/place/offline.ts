// The stores of a configuration while no engine runs on them.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LmdbStore } from '../kv/kv-lmdb.ts';
import { checkStoreFile } from '../kv/store-check.ts';
import { BackupRefused, type BackupSource } from './backup.ts';
import type { DirectoryLock, lockDirectory } from './directory-lock.ts';
import { DATA_FILE } from './store-folder.ts';

export interface OfflineSources {
  readonly list: readonly BackupSource[];
  close(): void;
}

/** Rejects with `StoreInUse` if an engine has one of them; then none is open. */
export async function openSources(folders: readonly string[], lock: typeof lockDirectory): Promise<OfflineSources> {
  const locks: DirectoryLock[] = [];
  const stores: LmdbStore[] = [];
  const close = (): void => {
    for (const store of stores) store.close();
    for (const held of locks) held.release();
  };
  try {
    const list: BackupSource[] = [];
    for (const folder of folders) {
      const file = join(folder, DATA_FILE);
      if (!existsSync(file)) throw new BackupRefused(`There is no store in ${folder} yet`);
      locks.push(await lock(folder));
      checkStoreFile(file);
      const store = new LmdbStore({ folder });
      stores.push(store);
      list.push({ folder, copyTo: (target) => store.copyTo(target) });
    }
    return { list, close };
  } catch (error) {
    close();
    throw error;
  }
}
