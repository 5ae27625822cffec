// The folder of a store: the files next to the data, its mark, its lock, and the file systems that it may lie on. Does
// not import lmdb, so that code that only inspects the folder does not load it.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** The format of the directory as a whole. A newer one is refused. Format 1 had no journal, and is read as it is. */
export const STORE_FORMAT = 2;
/** Holds the format outside the store, so that a store that lost its data file is not taken for a new one (R5). */
export const FORMAT_FILE = 'svc-store';
export const DATA_FILE = 'data.mdb';
export const LOCK_FILE = 'lock.mdb';

export interface FolderMark {
  /** The last transaction, if no other can follow. */
  readonly closedAt?: number | undefined;
  /** Changes that the data file lacks are in the journal. */
  readonly hasJournal?: boolean;
}

export function markFolder(folder: string, { closedAt, hasJournal = false }: FolderMark = {}): void {
  const text = `This folder is a store of svc, format ${STORE_FORMAT}. Copy it with svc backup, never file by file.\n`;
  const closed = closedAt === undefined ? '' : `${CLOSED_AT}${closedAt}\n`;
  const journal = hasJournal ? HAS_JOURNAL : '';
  writeFileSync(join(folder, FORMAT_FILE), text + journal + closed, { mode: 0o600, flush: true });
}

const CLOSED_AT = 'Closed at transaction ';
const HAS_JOURNAL = 'Its newest changes are in its journal.\n';

export function readMark(folder: string): FolderMark {
  const file = join(folder, FORMAT_FILE);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const at = text.indexOf(CLOSED_AT);
  const closedAt = at < 0 ? undefined : Number.parseInt(text.slice(at + CLOSED_AT.length), 10);
  return { closedAt, hasJournal: text.includes(HAS_JOURNAL) };
}

/**
 * File systems that a store must not lie on (D7), by the magic numbers of statfs(2). lmdb relies on locks and on mapped
 * memory that all readers see alike, which holds only where the disk belongs to this machine.
 */
const NOT_OF_THIS_MACHINE = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x517b, 'SMB'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x73757245, 'Coda'],
]);

/** Why a store must not lie there; `undefined` if it may. */
export function fileSystemOffence(folder: string): string | undefined {
  return offenceOfType(statfsSync(folder).type);
}

export function offenceOfType(type: number): string | undefined {
  const name = NOT_OF_THIS_MACHINE.get(type >>> 0);
  if (name === undefined) return undefined;
  return (
    `lies on a file system of the kind ${name}, where a crash or a second engine can damage it. Choose a disk of ` +
    'this machine, or set any_file_system: true if it is one'
  );
}

/**
 * One engine per store directory (R4). The lock is a socket in the abstract name space of the system, so it ends with
 * the process that holds it, in any way, and leaves nothing on the disk (R6). It works between processes that share a
 * network name space, which containers do only if they are configured to.
 */
export interface DirectoryLock {
  release(): void;
}

/** Rejects with `StoreInUse` if another process holds it. */
export async function lockDirectory(folder: string): Promise<DirectoryLock> {
  const server = createServer((socket) => socket.destroy());
  const name = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new StoreInUse(folder) : error),
    );
    server.listen({ path: `\0svc-store-${name}` }, resolve);
  });
  server.unref();
  return { release: () => server.close() };
}

export class StoreInUse extends Error {
  constructor(folder: string) {
    super(`The store in ${folder} is in use: another engine runs on it. Stop that one, or name another file_path`);
    this.name = 'StoreInUse';
  }
}
