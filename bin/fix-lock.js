// `npm run lock`: run after every change of dependencies. Removes the `engines` of uWebSockets.js from the lock file:
// npm would skip the package without a message when npm itself runs on an older Node than the engine.

import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
delete lock.packages['node_modules/uWebSockets.js'].engines;
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
