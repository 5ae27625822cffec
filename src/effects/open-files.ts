// How many files and sockets this process has open, and how many it may open.

import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** A recent count. */
export interface OpenFilesCount {
  readonly open: number;
  readonly max: number;
}

/** The share for connections; the rest is for everything else that the process opens. */
export const OPEN_FILES_SHARE = 0.9;

export function areScarce({ open, max }: OpenFilesCount): boolean {
  return open >= max * OPEN_FILES_SHARE;
}

/** The soft limit, or `undefined` where the system does not report it (only Linux does, without a native call). */
export function openFilesMax(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    // No such file: not Linux.
    return undefined;
  }
}

/** Where the system does not report the limit, everything is allowed. */
export interface OpenFiles {
  count(): OpenFilesCount | undefined;
  /** Requests one more, for a connection; false when they are scarce. */
  take(): boolean;
}

/** Counting walks over all of them: it is done now and then, and not in the router's thread. */
const LOOK_INTERVAL_MS = 2_000;

/** Logs when they become scarce, and when they no longer are. */
export class OpenFilesWatch implements OpenFiles {
  readonly #max: number | undefined;
  readonly #logger: Logger;
  readonly #stop: () => void;
  #open = 0;
  #wasScarce = false;

  constructor(max: number | undefined, clock: Clock, logger: Logger) {
    this.#max = max;
    this.#logger = logger;
    this.#stop = max === undefined ? () => {} : clock.every(LOOK_INTERVAL_MS, () => void this.#look(max));
    if (max !== undefined) void this.#look(max);
  }

  count(): OpenFilesCount | undefined {
    return this.#max === undefined ? undefined : { open: this.#open, max: this.#max };
  }

  take(): boolean {
    const count = this.count();
    if (count === undefined) return true;
    if (areScarce(count)) return false;
    // Until the next count; files closed meanwhile are seen then.
    this.#open++;
    return true;
  }

  stop(): void {
    this.#stop();
  }

  async #look(max: number): Promise<void> {
    // Counting needs a file descriptor too: if it fails for lack of one, all of them are in use.
    this.#open = await readdir('/proc/self/fd').then(
      ({ length }) => length,
      () => max,
    );
    const isScarce = areScarce({ open: this.#open, max });
    if (isScarce === this.#wasScarce) return;
    this.#wasScarce = isScarce;
    const fields = { open: this.#open, max };
    if (isScarce) this.#logger.warn('90 % of all files are open: raise the limit (ulimit -n, or LimitNOFILE)', fields);
    else this.#logger.info('Less than 90 % of all files are open again', fields);
  }
}
