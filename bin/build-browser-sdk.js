// Bundles `svc-browser-sdk`: the file that a page begins with, and beside it the parts that it loads when it first
// needs them. The errors, which index.js exports, are not put into the parts again.

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

/** One class of errors for all of them. */
const errorsStayInIndex = {
  name: 'errors stay in index.js',
  setup({ onResolve }) {
    onResolve({ filter: /\/errors\.ts$/ }, () => ({ path: './index.js', external: true }));
  },
};

/** Doors and parts: what is loaded beside index.js. Their names are those of their sources. */
const others = [
  'http.ts',
  'triggers.ts',
  '../sdk/called-side.ts',
  '../sdk/log-by-call.ts',
  '../sdk/channels.ts',
  '../sdk/checked-handler.ts',
  '../sdk/queue-client.ts',
  '../sdk/retry.ts',
  '../sdk/shutdown.ts',
  '../sdk/state-client.ts',
  '../sdk/streams.ts',
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
// Of the SDK it takes types only. The words in front let components that a server renders in part import it.
await build({
  ...common,
  entryPoints: [join(folder, 'react.ts')],
  external: ['react'],
  banner: { js: '"use client";' },
});
