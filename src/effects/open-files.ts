// How many files and sockets this process has open, and how many it may.

import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** As of a moment ago. */
export interface OpenFilesCount {
  readonly open: number;
  readonly max: number;
}

/** What connections may take of them; the rest is for everything else the process opens. */
export const OPEN_FILES_SHARE = 0.9;

export function areScarce({ open, max }: OpenFilesCount): boolean {
  return open >= max * OPEN_FILES_SHARE;
}

/** The soft limit, or `undefined` where the system does not tell (only Linux does, without a native call). */
export function openFilesMax(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    // No such file: not Linux.
    return undefined;
  }
}

/** Where the system does not tell, nothing is known and everything is allowed. */
export interface OpenFiles {
  count(): OpenFilesCount | undefined;
  /** Asks for one more, for a connection; false when they are scarce. */
  take(): boolean;
}

/** Counting takes a walk over all of them: it is done now and then, and not in the router's thread. */
const LOOK_INTERVAL_MS = 2_000;

/** Logs when they become scarce, and when they are not any more. */
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
    // Until the next look; what has been closed meanwhile is seen then.
    this.#open++;
    return true;
  }

  stop(): void {
    this.#stop();
  }

  async #look(max: number): Promise<void> {
    // Looking takes a file too: when that cannot be had, all of them are open.
    this.#open = await readdir('/proc/self/fd').then(
      ({ length }) => length,
      () => max,
    );
    const isScarce = areScarce({ open: this.#open, max });
    if (isScarce === this.#wasScarce) return;
    this.#wasScarce = isScarce;
    const facts = { open: this.#open, max };
    if (isScarce) this.#logger.warn('90 % of all files are open: raise the limit (ulimit -n, or LimitNOFILE)', facts);
    else this.#logger.info('Less than 90 % of all files are open again', facts);
  }
}
