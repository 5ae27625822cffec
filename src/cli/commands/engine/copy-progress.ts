// The progress of a copy of stores, measured by the size of its files, because the engine may be the one that copies.

import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ProgressLine, type ProgressTarget } from '../../text/progress-line.ts';

const POLL_MS = 200;
const MIB = 1024 * 1024;

export interface CopyOrder {
  /** The folders to copy. */
  readonly from: readonly string[];
  /** Files appear in folders whose path begins with one of these. */
  readonly to: readonly string[];
  /** `copied`, `restored` */
  readonly word: string;
}

export async function showCopyProgress<T>(
  { from, to, word }: CopyOrder,
  target: ProgressTarget,
  copy: () => Promise<T>,
): Promise<T> {
  const total = inMib(from.reduce((sum, folder) => sum + bytesBelow(folder), 0));
  const progress = new ProgressLine({ total, word: `MiB ${word}` }, target);
  const timer = setInterval(() => {
    const bytes = to.reduce((sum, start) => sum + bytesAt(start), 0);
    // A copy leaves out free pages, so it is never larger than its source.
    progress.update(Math.min(total, inMib(bytes)));
  }, POLL_MS);
  try {
    return await copy();
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

const inMib = (bytes: number): number => Math.ceil(bytes / MIB);

function bytesAt(start: string): number {
  const folder = dirname(start);
  const names = list(folder).filter((name) => name.startsWith(basename(start)));
  return names.reduce((sum, name) => sum + bytesBelow(join(folder, name)), 0);
}

function bytesBelow(folder: string): number {
  return list(folder, { recursive: true }).reduce((sum, name) => sum + bytesOf(join(folder, name)), 0);
}

/** A file that disappears meanwhile counts as 0. */
function list(folder: string, { recursive = false } = {}): string[] {
  try {
    return readdirSync(folder, { recursive, encoding: 'utf8' });
  } catch {
    return [];
  }
}

function bytesOf(path: string): number {
  const file = statSync(path, { throwIfNoEntry: false });
  return file?.isFile() === true ? file.size : 0;
}
