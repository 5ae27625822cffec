// The engine of an earlier version, as it was built then, for tests of engines of two versions.
//
// `older-engine.tgz` is commit 42ab8709 (2026-11-28), the first whose engines share functions, triggers, channels and
// jobs: `bin/svc.js`, and `dist` of `bin/build-engine.js` with `minify: true`. Since then engines also ask each other
// for descriptions of functions, and report what a worker says about a trigger of another engine.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ARCHIVE = join(import.meta.dirname, 'older-engine.tgz');
/** Below `node_modules`, where its libraries are. */
const PLACE = join(import.meta.dirname, '../../../node_modules/.cache/svc-42ab8709');

/** The path of its `svc`. */
export function olderSvc(): string {
  if (!existsSync(PLACE)) {
    const unfinished = `${PLACE}-${process.pid}`;
    mkdirSync(unfinished, { recursive: true });
    const { status, stderr } = spawnSync('tar', ['-xzf', ARCHIVE, '-C', unfinished], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`The older engine cannot be unpacked: ${stderr}`);
    try {
      renameSync(unfinished, PLACE);
    } catch {
      // Another test was faster.
      rmSync(unfinished, { recursive: true });
    }
  }
  return join(PLACE, 'bin/svc.js');
}
