// Backup and restore while no engine runs. A restore puts the stores of a backup in place of the existing ones (D8) and
// deletes nothing: existing stores are renamed. A restored store has a new epoch, so that clients that saw more than
// the backup holds take a fresh snapshot (T4).

import { existsSync, readdirSync } from 'node:fs';
import { chmod, copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { systemRandom } from '../../effects/random.ts';
import { readJournalState, recoverJournal } from '../journal/recovery.ts';
import { LmdbStore } from '../kv/kv-lmdb.ts';
import { DamagedFile } from '../kv/lmdb-file.ts';
import { writeEpoch } from '../kv/open-store.ts';
import { type CheckedStore, checkStoreFile } from '../kv/store-check.ts';
import { type BackupList, BackupRefused, type BackupSource, readList, sync } from './backup.ts';
import { DATA_FILE, type DirectoryLock, lockDirectory, markFolder } from './store-folder.ts';

interface OfflineSources {
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
      const journal = store.read(readJournalState);
      if (journal !== undefined) recoverJournal(store, folder, journal);
      list.push({ folder, copyTo: (target) => store.copyTo(target) });
    }
    return { list, close };
  } catch (error) {
    close();
    throw error;
  }
}

interface RestoredStore extends CheckedStore {
  readonly folder: string;
  /** The store that was there before, under its new name. */
  readonly movedTo: string | undefined;
}

/** Checks every record of every copy. Throws `DamagedFile` with the file and its problem. */
export async function verifyBackup(backup: string): Promise<(CheckedStore & { readonly folder: string })[]> {
  const { stores } = await readList(backup);
  return stores.map(({ folder, copy }) => ({ folder, ...checkCopy(join(backup, copy, DATA_FILE)) }));
}

function checkCopy(file: string): CheckedStore {
  if (!existsSync(file)) throw new DamagedFile(`${file} is missing`);
  try {
    return checkStoreFile(file, { isCopy: true });
  } catch (error) {
    throw error instanceof DamagedFile ? new DamagedFile(`${file}: ${error.message}`) : error;
  }
}

/** `folders`: the configured folders of stores. Rejects with `StoreInUse` while an engine runs on one of them. */
export async function restore(backup: string, folders: readonly string[], nowMs: number): Promise<RestoredStore[]> {
  const list = await readList(backup);
  const targets = matchTargets(
    list,
    folders.map((folder) => resolve(folder)),
  );
  const checked = await verifyBackup(backup);
  // Checks all of them before it replaces the first: a store in use must not leave the others half restored.
  const locks: DirectoryLock[] = [];
  try {
    for (const folder of targets) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      locks.push(await lockDirectory(folder));
    }
    const restored: RestoredStore[] = [];
    for (const [index, { copy }] of list.stores.entries()) {
      const folder = targets[index];
      const source = checked[index];
      if (folder === undefined || source === undefined) throw new Error('A store of the list has no target');
      restored.push({ ...source, folder, movedTo: await restoreOne(join(backup, copy), folder, nowMs) });
    }
    return restored;
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** The folder of the same name, or the only one there is. */
function matchTargets({ stores }: BackupList, folders: readonly string[]): string[] {
  const [onlyStore] = stores;
  const [onlyFolder] = folders;
  if (stores.length === 1 && folders.length === 1 && onlyStore !== undefined && onlyFolder !== undefined)
    return [onlyFolder];
  return stores.map(({ folder }) => {
    if (folders.includes(folder)) return folder;
    const configured = folders.length === 0 ? 'no store in a file' : folders.join(', ');
    throw new BackupRefused(`The backup holds the store of ${folder}, and the configuration has ${configured}`);
  });
}

async function restoreOne(copy: string, folder: string, nowMs: number): Promise<string | undefined> {
  const partial = `${folder}.restoring-${systemRandom.uuid().slice(0, 8)}`;
  try {
    await mkdir(partial, { mode: 0o700 });
    await copyFile(join(copy, DATA_FILE), join(partial, DATA_FILE));
    await chmod(join(partial, DATA_FILE), 0o600);
    const store = new LmdbStore({ folder: partial });
    const epoch = systemRandom.uuid();
    // Twice: a copy has one head in use, and a store has two, written in turn.
    for (let head = 0; head < 2; head++) writeEpoch(store, epoch);
    store.close();
    markFolder(partial);
    await sync(join(partial, DATA_FILE));
    await sync(partial);
    const movedTo = readdirSync(folder).length === 0 ? undefined : freeName(folder, nowMs);
    await exchange(partial, folder, movedTo);
    await sync(dirname(folder));
    return movedTo;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/** If there is nothing to move away, the empty folder is replaced. */
async function exchange(partial: string, folder: string, movedTo: string | undefined): Promise<void> {
  if (movedTo === undefined) return await rename(partial, folder);
  await rename(folder, movedTo);
  try {
    await rename(partial, folder);
  } catch (error) {
    // Without its folder the next start would create an empty store (R5).
    await rename(movedTo, folder);
    throw error;
  }
}

function freeName(folder: string, nowMs: number): string {
  const day = new Date(nowMs).toISOString().replace(/[:.]/g, '-');
  const name = `${folder}.before-restore-${day}`;
  return existsSync(name) ? `${name}-${systemRandom.uuid().slice(0, 8)}` : name;
}
