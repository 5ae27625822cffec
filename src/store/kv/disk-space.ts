// How much room the disk of a store has left (D4). The store must never meet a full disk, because the library cannot
// survive one.
//
// Checked before every transaction, which costs a few µs: a second of large writes is more than the reserve.

import { statfsSync, statSync } from 'node:fs';

/** Room for everything, only for commands that may use the reserve, or for no write. */
export type SpaceLeft = 'plenty' | 'reserve' | 'none';

export interface DiskSpace {
  /** For a transaction of that many commands and bytes of input. */
  left(bytes: number, commands: number): SpaceLeft;
}

const MIB = 1024 * 1024;
const RESERVE_BYTES_MIN = 256 * MIB;
const RESERVE_SHARE = 0.02;
/** Pages that one small change rewrites, from leaf to root, including the list of free pages. */
const BYTES_PER_CHANGE = 16 * 1024;
/** Below this nothing is written, not even deletions. */
const LAST_BYTES = MIB;

export class FileSystemSpace implements DiskSpace {
  readonly #file: string;
  readonly #fileNumber: number;
  readonly #reserveBytes: number | undefined;

  /** `file`: the open data file of the store. `reserveBytes`: in place of max(256 MiB, 2 % of the file system). */
  constructor(file: string, reserveBytes: number | undefined) {
    this.#file = file;
    this.#fileNumber = statSync(file).ino;
    this.#reserveBytes = reserveBytes;
  }

  /** Throws when the file is gone: writes to it would be lost (D1). */
  left(bytes: number, commands: number): SpaceLeft {
    if (statSync(this.#file).ino !== this.#fileNumber) {
      throw new Error(`${this.#file} was replaced while the engine ran`);
    }
    const { bavail, blocks, bsize } = statfsSync(this.#file);
    const reserve = this.#reserveBytes ?? Math.max(RESERVE_BYTES_MIN, blocks * bsize * RESERVE_SHARE);
    const left = bavail * bsize - 2 * bytes - commands * BYTES_PER_CHANGE;
    if (left >= reserve) return 'plenty';
    return left >= Math.min(LAST_BYTES, reserve) ? 'reserve' : 'none';
  }
}

/** Memory ends with a failed allocation, not with a full disk. */
export const UNLIMITED_SPACE: DiskSpace = { left: () => 'plenty' };
