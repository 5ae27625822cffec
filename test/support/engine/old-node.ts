// A Node that is too old for the engine and new enough for client commands, if the machine has one.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { isEngineNode } from '../../../src/cli/engine/pinned-node.ts';

/** A Node that runs client commands but not the engine, outside of this repository. */
export function findOldNode(): string | undefined {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  return folders
    .map((folder) => join(folder, 'node'))
    .find((path) => {
      try {
        const version = execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
        return Number(version.split('.')[0]) >= 20 && !isEngineNode(version);
      } catch {
        // Missing, or not executable: the next folder may have one.
        return false;
      }
    });
}
