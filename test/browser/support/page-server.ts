// Serves a page with the built SDK, under a content policy that allows no inline script and no eval.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';

const DIST = join(import.meta.dirname, '../../../src/browser-sdk/dist');
const POLICY = "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src *";

const FILES: Readonly<Record<string, string>> = {
  '/': '<!doctype html><title>page</title><script type="module" src="/page.js"></script>',
  '/page.js':
    "import * as sdk from '/svc/index.js';\nimport * as http from '/svc/http.js';\nObject.assign(window, { http, sdk });\n",
  // A web worker with the SDK: it receives the address, offers a function and reports it.
  '/worker.js': `import { registerWorker } from '/svc/index.js';
onmessage = async ({ data: { url, token } }) => {
  const svc = registerWorker(url, { auth: () => token });
  const add = svc.registerFunction('ui::add', ({ a, b }) => a + b);
  await add.ready();
  postMessage(await svc.trigger({ function_id: 'api::echo', payload: 'from a web worker' }));
};
`,
};

export interface PageServer extends AsyncDisposable {
  readonly port: number;
  /** Requested paths. */
  readonly asked: readonly string[];
}

/** On every loopback address of this machine, so that `localhost` is another host than `127.0.0.1`. */
export async function startPageServer(more: Readonly<Record<string, string>> = {}): Promise<PageServer> {
  const files = { ...FILES, ...more };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const text = path.startsWith('/svc/') ? readFile(join(DIST, basename(path)), 'utf8') : Promise.resolve(files[path]);
    const type = path.endsWith('.js') ? 'text/javascript' : 'text/html';
    text.then(
      (body) => {
        response.writeHead(body === undefined ? 404 : 200, {
          'content-type': type,
          'content-security-policy': POLICY,
        });
        response.end(body);
      },
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The page server has no TCP port');
  return {
    port: address.port,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
