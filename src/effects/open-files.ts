// How many files and sockets this process may have open.

import { readFileSync } from 'node:fs';

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
