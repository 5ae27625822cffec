#!/usr/bin/env node
// The entry point of the built program. Plain JavaScript without static imports of our files, so that an old Node
// reaches the version check instead of failing on new syntax.

import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

const [major, minor] = process.versions.node.split('.').map(Number);
const main = new URL('../dist/engine/main.js', import.meta.url);

if (major < 20 || (major === 20 && minor < 12)) {
  refuse(`svc needs Node 20.12 or newer; this is Node ${process.versions.node}. See https://nodejs.org`);
} else if (!existsSync(main)) {
  refuse('svc is not built yet; run: npm run build');
} else {
  keepCompiledCode();
  await import(main.href);
}

// Caches compiled code for the next start, in the user's own folder: other users may write to Node's default folder.
function keepCompiledCode() {
  try {
    module.enableCompileCache?.(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc'));
  } catch {
    // Without a home folder there is no cache.
  }
}

function refuse(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exitCode = 78;
}
