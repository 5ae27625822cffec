// Node's own http, loaded by its first use: most engines start and run without it.
//
// An `import` of it also reads every one of its exports, and so loads a client for `fetch` and a WebSocket that nothing
// here uses: a tenth of the start time.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export function http(): typeof import('node:http') {
  return require('node:http');
}

export function https(): typeof import('node:https') {
  return require('node:https');
}
