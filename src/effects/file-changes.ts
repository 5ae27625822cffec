// Reports that files were replaced. They are looked at every few seconds: a watch misses changes that come through a
// symbolic link or on a network file system, where certificates are often kept. Several files are written one after
// the other, so a change is reported when a second look finds the same.

import { statSync } from 'node:fs';
import type { Clock } from './clock.ts';

const LOOK_INTERVAL_MS = 2_000;

/** `files`: those to look at, which may change. The returned function ends it. */
export function followFiles(
  files: () => readonly string[],
  clock: Pick<Clock, 'every'>,
  changed: () => void,
): () => void {
  let reported = versionsOf(files());
  let seen = reported;
  return clock.every(LOOK_INTERVAL_MS, () => {
    const versions = versionsOf(files());
    const isSettled = versions === seen;
    seen = versions;
    if (!isSettled || versions === reported) return;
    reported = versions;
    changed();
  });
}

function versionsOf(files: readonly string[]): string {
  return files.map(versionOf).join('; ');
}

/** A file that cannot be looked at must not end the process: reading it reports the reason. */
function versionOf(file: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    return String(error);
  }
}
