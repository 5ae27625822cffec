// Bundles the server of `svc-console` into one file, so that its package needs no files of the engine. `ws` stays a
// dependency of the package.

import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const folder = join(import.meta.dirname, '../src/console');

await build({
  entryPoints: [join(folder, 'server/main.ts')],
  outfile: join(folder, 'dist/server.js'),
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.12',
  external: ['ws'],
  banner: { js: '#!/usr/bin/env node' },
  legalComments: 'none',
  logLevel: 'warning',
});

// The file is the executable of its package.
chmodSync(join(folder, 'dist/server.js'), 0o755);
