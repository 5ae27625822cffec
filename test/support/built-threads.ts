// Threads of an engine that runs inside a test are those of the build, which start in a third of the time. Where the
// sources are newer than the build, they are the sources.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vitest/config';

const ROOT = join(import.meta.dirname, '../..');

/** Replaces `src/effects/threads/task-file.ts` in tests. */
export function builtThreads(): Plugin {
  const isBuilt = builtMs() > newestMs('src') && builtMs() > newestMs('workers');
  return {
    name: 'built-threads',
    enforce: 'pre',
    load(id) {
      if (!isBuilt || !id.endsWith('/src/effects/threads/task-file.ts')) return undefined;
      const folder = JSON.stringify(join(ROOT, 'dist/workers/'));
      return `import { pathToFileURL } from 'node:url';
export const taskFile = (task) => pathToFileURL(${folder} + task + '.js').href;`;
    },
  };
}

function builtMs(): number {
  return statSync(join(ROOT, 'dist/workers/store.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newestMs(folder: string): number {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const sources = entries.filter(
    ({ name, parentPath }) => name.endsWith('.ts') && !/\/(node_modules|dist)\b/.test(parentPath),
  );
  return Math.max(...sources.map(({ name, parentPath }) => statSync(join(parentPath, name)).mtimeMs));
}
