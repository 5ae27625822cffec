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
import { hasJournal, JOURNAL_FILES } from '../journal/journal.ts';
import { JournaledStore, type JournalLimits } from '../journal/journaled-store.ts';
import {
  type JournalState,
  newJournal,
  readJournalState,
  recoverJournal,
  writeJournalState,
} from '../journal/recovery.ts';
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
  /** The same store if it lies on a disk and has a journal. */
  readonly disk: JournaledStore | undefined;
  readonly epoch: string;
  readonly space: DiskSpace;
  close(): void;
}

export type OpenOptions = Pick<StoreOpening, 'location' | 'newEpoch'> & {
  /** False: a damaged record is found when it is read. */
  readonly checksRecords?: boolean;
  /** `none`: each transaction goes to the tree at once. For few and large ones. */
  readonly journal?: Partial<JournalLimits> | 'none';
};

export function openStore(options: OpenOptions): OpenResult {
  const { location, newEpoch } = options;
  if (location.kind === 'memory') {
    const store = new MemoryStore();
    return { ok: true, store, disk: undefined, epoch: newEpoch, space: UNLIMITED_SPACE, close: () => store.close() };
  }
  try {
    return openDirectory(location, options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refuse(location, `cannot be opened: ${reason}`);
  }
}

type DirectoryLocation = StoreLocation & { kind: 'directory' };

function openDirectory(location: DirectoryLocation, options: OpenOptions): OpenResult {
  const { newEpoch, checksRecords = true, journal: limits = {} } = options;
  const { folder } = location;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const fileSystem = location.anyFileSystem ? undefined : fileSystemOffence(folder);
  if (fileSystem !== undefined) return refuse(location, fileSystem);
  const offence = filesOffence(folder, checksRecords);
  if (offence !== undefined) return refuse(location, offence);
  const tree = new LmdbStore({ folder });
  try {
    const identity = readIdentity(tree);
    const identityOffence = offenceOf(identity, folder);
    if (identityOffence !== undefined) {
      tree.close();
      return refuse(location, identityOffence);
    }
    const { epoch = newEpoch } = identity;
    const journal = recoverJournal(tree, folder, identity.journal ?? newJournal());
    tree.clearStaleReaders();
    if (identity.epoch === undefined || identity.journal === undefined) writeIdentity(tree, epoch, journal);
    const store = limits === 'none' ? tree : new JournaledStore(tree, folder, journal, limits);
    // From here on a crash may leave any transaction as the last one.
    markFolder(folder, { hasJournal: limits !== 'none' });
    for (const file of [DATA_FILE, LOCK_FILE]) chmodSync(join(folder, file), 0o600);
    const space = spaceFor(store, new FileSystemSpace(join(folder, DATA_FILE), location.reserveBytes));
    const close = (): void => {
      store.close();
      markFolder(folder, { closedAt: lastTransaction(join(folder, DATA_FILE)) });
    };
    return { ok: true, store, disk: store instanceof JournaledStore ? store : undefined, epoch, space, close };
  } catch (error) {
    tree.close();
    if (error instanceof DamagedFile) return refuse(location, `is damaged: ${error.message}`);
    throw error;
  }
}

function spaceFor(store: LmdbStore | JournaledStore, space: DiskSpace): DiskSpace {
  if (!(store instanceof JournaledStore)) return space;
  return {
    left: (bytes, commands) => {
      const { bytes: pendingBytes, changes } = store.pending;
      return space.left(bytes + pendingBytes, commands + changes);
    },
  };
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
    const mark = readMark(folder);
    if (mark.hasJournal && !hasJournal(folder))
      return `is damaged: one of its files ${JOURNAL_FILES.join(' and ')} is missing`;
    // With a head that lost its number, the library would silently continue from the transaction before.
    if (mark.closedAt === undefined || mark.closedAt === transaction) return undefined;
    return `is damaged: it was closed at transaction ${mark.closedAt} and is now at ${transaction}`;
  } catch (error) {
    if (error instanceof DamagedFile) return `is damaged: ${error.message}`;
    throw error;
  }
}

interface StoreIdentity {
  readonly format: string | undefined;
  readonly epoch: string | undefined;
  readonly journal: JournalState | undefined;
  readonly isEmpty: boolean;
}

const FORMAT_KEY = joinKey(SPACE.store, Buffer.from('format'));
const EPOCH_KEY = joinKey(SPACE.store, Buffer.from('epoch'));

function readIdentity(disk: LmdbStore): StoreIdentity {
  return disk.read((kv) => ({
    format: kv.get(FORMAT_KEY)?.toString(),
    epoch: kv.get(EPOCH_KEY)?.toString(),
    journal: readJournalState(kv),
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
export function writeEpoch(tree: LmdbStore, epoch: string): void {
  tree.write((kv) => putEpoch(kv, epoch));
}

function writeIdentity(tree: LmdbStore, epoch: string, journal: JournalState): void {
  tree.write((kv) => {
    putEpoch(kv, epoch);
    writeJournalState(kv, journal);
  });
}

function putEpoch(kv: Kv, epoch: string): void {
  kv.put(FORMAT_KEY, Buffer.from(String(STORE_FORMAT)));
  kv.put(EPOCH_KEY, Buffer.from(epoch));
}

function refuse({ folder }: DirectoryLocation, reason: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message: `The store in ${folder} ${reason}. Nothing in it was changed` };
}
