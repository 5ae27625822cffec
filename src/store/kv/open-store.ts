// Opens a store, or says why it must not be opened (R5, D7, D10). A refusal never changes the files.

import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  DATA_FILE,
  FORMAT_FILE,
  fileSystemOffence,
  LOCK_FILE,
  markFolder,
  readMark,
  STORE_FORMAT,
} from '../directory/store-folder.ts';
import type { StoreLocation, StoreOpening } from '../thread/messages.ts';
import { type DiskSpace, FileSystemSpace, UNLIMITED_SPACE } from './disk-space.ts';
import { joinKey, SPACE } from './keys.ts';
import type { Kv, KvStore } from './kv.ts';
import { LmdbStore } from './kv-lmdb.ts';
import { MemoryStore } from './kv-memory.ts';
import { DamagedFile, lastTransaction } from './lmdb-file.ts';
import { checkStoreFile } from './store-check.ts';

export type OpenResult = OpenedStore | { readonly ok: false; readonly message: string };

export interface OpenedStore {
  readonly ok: true;
  readonly store: KvStore;
  /** The same store if it lies on a disk. */
  readonly disk: LmdbStore | undefined;
  readonly epoch: string;
  readonly space: DiskSpace;
  close(): void;
}

export type OpenOptions = Pick<StoreOpening, 'location' | 'newEpoch'> & {
  /** False: a damaged record is found when it is read. */
  readonly checksRecords?: boolean;
};

export function openStore({ location, newEpoch, checksRecords = true }: OpenOptions): OpenResult {
  if (location.kind === 'memory') {
    const store = new MemoryStore();
    return { ok: true, store, disk: undefined, epoch: newEpoch, space: UNLIMITED_SPACE, close: () => store.close() };
  }
  try {
    return openDirectory(location, newEpoch, checksRecords);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refuse(location, `cannot be opened: ${reason}`);
  }
}

type DirectoryLocation = StoreLocation & { kind: 'directory' };

function openDirectory(location: DirectoryLocation, newEpoch: string, checksRecords: boolean): OpenResult {
  const { folder } = location;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const fileSystem = location.anyFileSystem ? undefined : fileSystemOffence(folder);
  if (fileSystem !== undefined) return refuse(location, fileSystem);
  const offence = filesOffence(folder, checksRecords);
  if (offence !== undefined) return refuse(location, offence);
  const disk = new LmdbStore({ folder });
  const identity = readIdentity(disk);
  const identityOffence = offenceOf(identity, folder);
  if (identityOffence !== undefined) {
    disk.close();
    return refuse(location, identityOffence);
  }
  disk.clearStaleReaders();
  if (identity.epoch === undefined) writeEpoch(disk, newEpoch);
  // From here on a crash may leave any transaction as the last one.
  markFolder(folder);
  for (const file of [DATA_FILE, LOCK_FILE]) chmodSync(join(folder, file), 0o600);
  const epoch = identity.epoch ?? newEpoch;
  const space = new FileSystemSpace(join(folder, DATA_FILE), location.reserveBytes);
  const close = (): void => {
    disk.close();
    markFolder(folder, lastTransaction(join(folder, DATA_FILE)));
  };
  return { ok: true, store: disk, disk, epoch, space, close };
}

/** Checks the files before the library opens them. */
function filesOffence(folder: string, checksRecords: boolean): string | undefined {
  const data = join(folder, DATA_FILE);
  const bytes = existsSync(data) ? statSync(data).size : 0;
  if (bytes === 0 && existsSync(join(folder, FORMAT_FILE))) {
    return `is damaged: ${DATA_FILE} is ${existsSync(data) ? 'empty' : 'missing'}, although there was a store`;
  }
  if (bytes === 0) return undefined;
  try {
    const { transaction } = checkStoreFile(data, { checksRecords });
    const closedAt = readMark(folder);
    // With a head that lost its number, the library would silently continue from the transaction before.
    if (closedAt === undefined || closedAt === transaction) return undefined;
    return `is damaged: it was closed at transaction ${closedAt} and is now at ${transaction}`;
  } catch (error) {
    if (error instanceof DamagedFile) return `is damaged: ${error.message}`;
    throw error;
  }
}

interface StoreIdentity {
  readonly format: string | undefined;
  readonly epoch: string | undefined;
  readonly isEmpty: boolean;
}

const FORMAT_KEY = joinKey(SPACE.store, Buffer.from('format'));
const EPOCH_KEY = joinKey(SPACE.store, Buffer.from('epoch'));

function readIdentity(disk: LmdbStore): StoreIdentity {
  return disk.read((kv) => ({
    format: kv.get(FORMAT_KEY)?.toString(),
    epoch: kv.get(EPOCH_KEY)?.toString(),
    isEmpty: [...kv.range(Buffer.of(0), Buffer.of(0xff), { limit: 1 })].length === 0,
  }));
}

function offenceOf({ format, epoch, isEmpty }: StoreIdentity, folder: string): string | undefined {
  if (isEmpty && !existsSync(join(folder, FORMAT_FILE))) return undefined;
  if (format === undefined || epoch === undefined) return 'is damaged: it does not say which store it is';
  if (Number(format) > STORE_FORMAT) {
    return `has format ${format}, newer than ${STORE_FORMAT}, the newest this version of svc reads`;
  }
  return undefined;
}

/** A new name for this incarnation: clients that know the old one take a fresh snapshot (T4). */
export function writeEpoch(disk: LmdbStore, epoch: string): void {
  disk.write((kv: Kv) => {
    kv.put(FORMAT_KEY, Buffer.from(String(STORE_FORMAT)));
    kv.put(EPOCH_KEY, Buffer.from(epoch));
  });
}

function refuse({ folder }: DirectoryLocation, reason: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message: `The store in ${folder} ${reason}. Nothing in it was changed` };
}
