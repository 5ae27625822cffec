// Reports that a file was written, also when it was replaced by another one, as editors do; and that files below a
// folder were written, created or removed. Folders that hold no source are left out, above all node_modules with its
// thousands of files.

import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from './clock.ts';

/** Editors write in several steps. */
const FILE_SETTLE_MS = 200;

/** The returned function ends it. Where the system cannot watch, nothing is ever reported. */
export function watchFile(path: string, clock: Clock, notify: () => void): () => void {
  let cancel = (): void => {};
  const changed = (_event: string, name: string | null): void => {
    if (name !== null && name !== basename(path)) return;
    cancel();
    cancel = clock.after(FILE_SETTLE_MS, notify);
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

/** Editors write in several steps. */
const FOLDER_SETTLE_MS = 100;

const LEFT_OUT = /^(\..*|node_modules|__pycache__|data|dist)$/;

/** The returned function ends it. Where the system cannot watch, nothing is ever reported. */
export function watchFolder(path: string, clock: Clock, notify: () => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let cancel = (): void => {};
  const changed = (_event: string, name: string | null): void => {
    if (name !== null && LEFT_OUT.test(name)) return;
    cancel();
    cancel = clock.after(FOLDER_SETTLE_MS, () => {
      // A folder may have been created.
      follow();
      notify();
    });
  };
  const follow = (): void => {
    const folders = foldersBelow(path);
    for (const [folder, watcher] of watchers) {
      if (folders.includes(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of folders) if (!watchers.has(folder)) open(folder);
  };
  const open = (folder: string): void => {
    try {
      const watcher = watch(folder, { persistent: false }, changed);
      watcher.on('error', () => watcher.close());
      watchers.set(folder, watcher);
    } catch {
      // The folder is gone again, or the system's limit of watches is reached.
    }
  };
  follow();
  return () => {
    cancel();
    for (const watcher of watchers.values()) watcher.close();
  };
}

function foldersBelow(path: string): string[] {
  try {
    const inside = readdirSync(path, { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() && !LEFT_OUT.test(entry.name),
    );
    return [path, ...inside.flatMap(({ name }) => foldersBelow(join(path, name)))];
  } catch {
    return [];
  }
}
