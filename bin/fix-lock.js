// `npm run lock`: run after every change of dependencies. Takes the `engines` of uWebSockets.js out of the lock file:
// npm would skip the package in silence where npm itself runs on an older Node than the engine will.

import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
delete lock.packages['node_modules/uWebSockets.js'].engines;
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
