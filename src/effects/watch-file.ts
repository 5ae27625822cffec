// Reports that a file was written, also when it was replaced by another one, as editors do.

import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from './clock.ts';

/** Editors write in several steps. */
const SETTLE_MS = 200;

/** The returned function ends it. Where the system cannot watch, nothing is ever reported. */
export function watchFile(path: string, clock: Clock, tell: () => void): () => void {
  let cancel = (): void => {};
  const changed = (_event: string, name: string | null): void => {
    if (name !== null && name !== basename(path)) return;
    cancel();
    cancel = clock.after(SETTLE_MS, tell);
  };
  try {
    // The folder is watched, because a watch on a file ends when the file is replaced.
    const watcher = watch(dirname(path), { persistent: false }, changed);
    watcher.on('error', () => watcher.close());
    return () => {
      cancel();
      watcher.close();
    };
  } catch {
    return () => {};
  }
}
