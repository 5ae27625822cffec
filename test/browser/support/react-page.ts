// What the page server serves for a page with React: the tests' app with React and the hooks in one file. The page
// server serves the SDK itself.

import { join } from 'node:path';
import { build } from 'esbuild';

const ENTRY = join(import.meta.dirname, 'react-app.ts');

/** Paths and texts. `rendered` is the HTML that a server put into the page. */
export async function reactFiles(rendered: string): Promise<Readonly<Record<string, string>>> {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"development"' },
    plugins: [
      {
        name: 'the SDK as it is served',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^svc-browser-sdk$/ }, () => ({ path: '/svc/index.js', external: true })),
      },
    ],
    logLevel: 'warning',
  });
  const pageWith = (html: string): string =>
    `<!doctype html><title>page</title><div id="root">${html}</div><script type="module" src="/react-app.js"></script>`;
  return { '/react': pageWith(''), '/rendered': pageWith(rendered), '/react-app.js': outputFiles[0]?.text ?? '' };
}
