// Bundles the engine of `svc-sdk/testing` into one file of that package: the SDK has none of the engine's dependencies,
// and tests must run against the engine's own code.

import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');

await build({
  entryPoints: [join(root, 'src/testing-engine/index.ts')],
  outfile: join(root, 'src/sdk/dist/sdk/testing-engine.bundle.js'),
  bundle: true,
  minifySyntax: true,
  minifyWhitespace: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.12',
  // Loaded only by modules that this engine never has.
  external: ['@redis/client', 'rabbitmq-client'],
  // CommonJS libraries call `require` for modules of Node.
  banner: {
    js:
      '// Also holds yaml (ISC, Eemeli Aro), sorted-btree (MIT, David Piepgrass), typia (MIT, Jeongho Nam),\n' +
      '// cron-parser (MIT, Harri Siirak), luxon (MIT, JS Foundation).\n' +
      "import { createRequire as requireFrom } from 'node:module';const require = requireFrom(import.meta.url);",
  },
  legalComments: 'eof',
  logLevel: 'warning',
});
