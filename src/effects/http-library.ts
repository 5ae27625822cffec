// Node's own http, as far as the engine's start needs it.
//
// `import` of it asks for every one of its exports, and with them loads a client for `fetch` and a WebSocket that
// nothing here uses: a tenth of the engine's start.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const http: typeof import('node:http') = require('node:http');
export const https: typeof import('node:https') = require('node:https');
