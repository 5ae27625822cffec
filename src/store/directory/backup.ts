// A backup: a folder with the library's own copy of each store, synced before it is renamed into place (D8), and a
// list.
//
//   <backup>/svc-backup.json     which store is in which folder
//   <backup>/0-data/data.mdb     a store as it is on disk; 0 is its place in the list, `data` the folder it came from

import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { systemRandom } from '../../effects/random.ts';
import { DATA_FILE, markFolder, STORE_FORMAT } from './store-folder.ts';

export const LIST_FILE = 'svc-backup.json';

/** The backup or restore was not made; the message says why and what to do. */
export class BackupRefused extends Error {}

export interface BackupSource {
  readonly folder: string;
  /** Copies one committed moment into an empty folder. */
  copyTo(folder: string): Promise<void>;
}

export interface BackupList {
  readonly format: number;
  readonly createdAt: string;
  readonly stores: readonly { readonly folder: string; readonly copy: string }[];
}

export function assertNew(path: string): void {
  if (existsSync(path)) throw new BackupRefused(`${path} exists already: a backup is made in a new folder`);
}

/** Creates the folder `target`, or leaves nothing. */
export async function backUp(target: string, sources: readonly BackupSource[], nowMs: number): Promise<BackupList> {
  const path = resolve(target);
  assertNew(path);
  if (sources.length === 0) throw new BackupRefused('No module keeps its data in a file: there is nothing to back up');
  const partial = `${path}.partial-${systemRandom.uuid().slice(0, 8)}`;
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    const stores = [];
    for (const [index, source] of sources.entries()) {
      const copy = `${index}-${basename(source.folder)}`;
      await copyOne(source, join(partial, copy));
      stores.push({ folder: source.folder, copy });
    }
    const list = { format: STORE_FORMAT, createdAt: new Date(nowMs).toISOString(), stores };
    await writeFile(join(partial, LIST_FILE), `${JSON.stringify(list, null, 2)}\n`, { mode: 0o600, flush: true });
    await sync(partial);
    await rename(partial, path);
    await sync(dirname(path));
    return list;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function copyOne(source: BackupSource, folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  await source.copyTo(folder);
  await chmod(join(folder, DATA_FILE), 0o600);
  markFolder(folder);
  await sync(join(folder, DATA_FILE));
  await sync(folder);
}

/** Syncs a file or a folder: it is on the disk when this resolves. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function readList(backup: string): Promise<BackupList> {
  const file = join(backup, LIST_FILE);
  const text = await readFile(file, 'utf8').catch(() => {
    throw new BackupRefused(`${backup} is not a backup of svc: there is no ${LIST_FILE} in it`);
  });
  const list = parseList(text);
  if (list === undefined) throw new BackupRefused(`${file} is damaged`);
  if (list.format > STORE_FORMAT) {
    throw new BackupRefused(`${backup} has format ${list.format}; this version of svc reads up to ${STORE_FORMAT}`);
  }
  return list;
}

function parseList(text: string): BackupList | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The caller adds the name of the file.
    return undefined;
  }
  return isList(value) ? value : undefined;
}

function isList(value: unknown): value is BackupList {
  if (typeof value !== 'object' || value === null) return false;
  const { format, createdAt, stores } = value as Partial<Record<keyof BackupList, unknown>>;
  if (typeof format !== 'number' || typeof createdAt !== 'string' || !Array.isArray(stores)) return false;
  return stores.every((store: unknown) => {
    if (typeof store !== 'object' || store === null) return false;
    const { folder, copy } = store as { folder?: unknown; copy?: unknown };
    return typeof folder === 'string' && typeof copy === 'string' && copy === basename(copy) && copy !== '..';
  });
}
