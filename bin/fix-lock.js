// `npm run lock`: run after every change of dependencies. Removes the `engines` of the binaries of uWebSockets.js from
// the lock file: npm would skip them without a message where npm itself runs on another Node than the engine.

import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
for (const entry of Object.values(lock.packages)) {
  if (entry.name?.startsWith('@uwsjs/')) delete entry.engines;
}
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
