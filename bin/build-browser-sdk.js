// Bundles `svc-browser-sdk`: the file that a page loads first, and the parts that this file loads on demand. The error
// classes, which index.js exports, are not repeated in the parts.

import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const folder = join(import.meta.dirname, '../src/browser-sdk');
const outdir = join(folder, 'dist');

const common = {
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
};

/** A part keeps the name of its source. */
const partsStayOutside = {
  name: 'parts stay outside',
  setup({ onResolve }) {
    onResolve({ filter: /\.ts$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path: `./${basename(path, '.ts')}.js`, external: true } : undefined,
    );
  },
};

/** All files use the same error classes. */
const errorsStayInIndex = {
  name: 'errors stay in index.js',
  setup({ onResolve }) {
    onResolve({ filter: /\/errors\.ts$/ }, () => ({ path: './index.js', external: true }));
  },
};

/** Entry points and parts, in addition to index.js. They keep the names of their sources. */
const others = [
  'http.ts',
  'triggers.ts',
  '../sdk/calls/incoming-calls.ts',
  '../sdk/telemetry/log-by-call.ts',
  '../sdk/channels/channels.ts',
  '../sdk/functions/checked-handler.ts',
  '../sdk/data/queue-client.ts',
  '../sdk/calls/retry.ts',
  '../sdk/worker/shutdown.ts',
  '../sdk/data/state-client.ts',
  '../sdk/streams/streams.ts',
];

for (const name of ['index.ts', 'react.ts', ...others])
  rmSync(join(outdir, `${basename(name, '.ts')}.js`), { force: true });
await build({ ...common, entryPoints: [join(folder, 'index.ts')], plugins: [partsStayOutside] });
await build({
  ...common,
  entryPoints: others.map((name) => join(folder, name)),
  entryNames: '[name]',
  plugins: [errorsStayInIndex],
});
// It imports only types of the SDK. The banner allows an import from server-rendered components.
await build({
  ...common,
  entryPoints: [join(folder, 'react.ts')],
  external: ['react'],
  banner: { js: '"use client";' },
});
