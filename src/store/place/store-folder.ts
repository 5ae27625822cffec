// The files next to the data in the folder of a store, and its mark. Does not import lmdb, so that code that only
// inspects the folder does not load it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The format of the directory as a whole. A newer one is refused; code to convert an older one does not exist yet. */
export const STORE_FORMAT = 1;
/** Holds the format outside the store, so that a store that lost its data file is not taken for a new one (R5). */
export const FORMAT_FILE = 'svc-store';
export const DATA_FILE = 'data.mdb';
export const LOCK_FILE = 'lock.mdb';

/** `closedAt`: the last transaction, if no other can follow. */
export function markFolder(folder: string, closedAt?: number): void {
  const text = `This folder is a store of svc, format ${STORE_FORMAT}. Copy it with svc backup, never file by file.\n`;
  const closed = closedAt === undefined ? '' : `${CLOSED_AT}${closedAt}\n`;
  writeFileSync(join(folder, FORMAT_FILE), text + closed, { mode: 0o600, flush: true });
}

const CLOSED_AT = 'Closed at transaction ';

/** The last transaction at the time when the store was closed. */
export function readMark(folder: string): number | undefined {
  const file = join(folder, FORMAT_FILE);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const at = text.indexOf(CLOSED_AT);
  return at < 0 ? undefined : Number.parseInt(text.slice(at + CLOSED_AT.length), 10);
}
