#!/usr/bin/env node
// The door of the built program. Plain JavaScript without static imports of ours, so that an old Node
// reaches the check instead of failing on syntax it does not know.

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

// The next start need not compile it again. In the user's own folder: Node's default is one that others may write to.
function keepCompiledCode() {
  try {
    module.enableCompileCache?.(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc'));
  } catch {
    // A user without a home: then it is compiled each time.
  }
}

function refuse(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exitCode = 78;
}
