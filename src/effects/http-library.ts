// Node's own http, as far as the engine's start needs it.
//
// An `import` of it reads every one of its exports, and so loads a client for `fetch` and a WebSocket that nothing here
// uses: a tenth of the start time.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const http: typeof import('node:http') = require('node:http');
export const https: typeof import('node:https') = require('node:https');
