// A page of another site makes the browser of its visitor request addresses of the console, as image, script, frame,
// form or link. It cannot read the answers, but the engine would run the requests. `Sec-Fetch-Site` shows where they
// come from.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { API_PREFIX } from '../../src/console/api/envelope.ts';
import { type RunningConsole, startConsole } from '../../src/console/server/server.ts';
import { answerChecks } from '../../src/generated/console-contract.ts';
import { ask } from '../support/clients/http-engine.ts';
import { tryUpgrade } from '../support/clients/upgrade.ts';
import { type ConsoleEngine, startConsoleEngine } from '../support/telemetry/console-engine.ts';

type Headers = Record<string, string>;

/** The headers of browsers for requests of a page of another site. */
const FOREIGN: Readonly<Record<string, Headers>> = {
  'an image': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
  'a script': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
  'a simple fetch': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
  'a frame': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  'an object': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' },
  'a link or redirect': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  'a link that was clicked': {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    'sec-fetch-user': '?1',
  },
  'a site and nothing else': { 'sec-fetch-site': 'cross-site' },
  'an image of a sibling': { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
  'a frame of a sibling': { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  'a word that no browser knows yet': { 'sec-fetch-site': 'other-planet' },
};

/** The headers of the console's own pages, of programs and of typed addresses. */
const OWN: Readonly<Record<string, Headers>> = {
  'a program': {},
  'an address that was typed': {
    'sec-fetch-site': 'none',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    'sec-fetch-user': '?1',
  },
  'a page of the same origin': { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
};

/** The console's pages come from another port: depending on the host name that is the same site or another one. */
const OWN_OF_ENGINE: Readonly<Record<string, Headers>> = {
  ...OWN,
  'a page of the console': {
    'sec-fetch-site': 'same-site',
    'sec-fetch-mode': 'cors',
    origin: 'http://127.0.0.1:3113',
  },
  'a page of the console under another name': {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'cors',
    origin: 'http://localhost:3113',
  },
  'a link on a page of the console': {
    'sec-fetch-site': 'same-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  },
};

const READS = Object.keys(answerChecks)
  .filter((name) => name.startsWith('GET '))
  .map((name) => name.slice('GET '.length).replaceAll(/[{}]/g, ''));

const open: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
  vi.unstubAllEnvs();
});

async function startEngine(transport: string): Promise<ConsoleEngine> {
  vi.stubEnv('SVC_TRANSPORT', transport);
  const engine = await startConsoleEngine();
  open.push({ stop: () => engine.drain() });
  return engine;
}

async function startPages(engine: ConsoleEngine): Promise<{ readonly httpPort: number }> {
  const running: RunningConsole = await startConsole(
    {
      host: '127.0.0.1',
      port: 0,
      engineHost: '127.0.0.1',
      enginePort: engine.httpPort,
      streamPort: engine.streamPort,
      bridgePort: engine.port,
      token: undefined,
      isReadOnly: false,
      hasFlow: false,
      serviceName: 'svc-console',
    },
    () => {},
  );
  open.push(running);
  return { httpPort: Number(new URL(running.url).port) };
}

describe.each(['uws', 'ws'])('a request of a page of another site to the engine, on %s', (transport) => {
  test('is refused on every read of the console, on the list of routes and on the metrics', async () => {
    const engine = await startEngine(transport);
    expect(READS.length).toBeGreaterThan(30);
    const paths = [
      ...READS.map((path) => API_PREFIX + path),
      '/_console/v1/openapi.json',
      '/_console/none',
      '/metrics',
    ];
    const image = FOREIGN['an image'] ?? {};
    for (const path of paths) {
      for (const method of ['GET', 'HEAD']) {
        const { status } = await ask(engine, path, { method, headers: image });
        expect([method, path, status]).toEqual([method, path, 403]);
      }
    }
    for (const [what, headers] of Object.entries(FOREIGN)) {
      const { status, text } = await ask(engine, '/_console/v1/status', { headers });
      expect([what, status]).toEqual([what, 403]);
      expect(text).toMatch(/"FORBIDDEN".*Sec-Fetch-Site: (cross-site|same-site|other-planet)/);
    }
  });

  test('is refused, while those of the console, of programs and of typed addresses are answered', async () => {
    const engine = await startEngine(transport);
    for (const [what, headers] of Object.entries(OWN_OF_ENGINE)) {
      for (const path of ['/_console/v1/status', '/_console/v1/openapi.json']) {
        expect([what, path, (await ask(engine, path, { headers })).status]).toEqual([what, path, 200]);
      }
    }
    for (const [what, headers] of Object.entries(OWN)) {
      expect([what, (await ask(engine, '/metrics', { headers })).status]).toEqual([what, 200]);
    }
  });

  test('does not open a live socket', async () => {
    const { httpPort } = await startEngine(transport);
    const path = '/_console/v1/live';
    for (const [what, headers] of Object.entries(FOREIGN)) {
      expect([what, (await tryUpgrade(httpPort, { path, headers })).status]).toEqual([what, 403]);
    }
    expect((await tryUpgrade(httpPort, { path })).status).toBe(101);
  });
});

describe('a request of a page of another site to the console server', () => {
  test('is never forwarded to the engine', async () => {
    const pages = await startPages(await startEngine('uws'));
    for (const path of READS) {
      const { status } = await ask(pages, `/api${path}`, { headers: FOREIGN['an image'] ?? {} });
      expect([path, status]).toEqual([path, 403]);
    }
    for (const [what, headers] of Object.entries(FOREIGN)) {
      expect([what, (await ask(pages, '/api/status', { headers })).status]).toEqual([what, 403]);
      expect([what, (await tryUpgrade(pages.httpPort, { path: '/api/live', headers })).status]).toEqual([what, 403]);
    }
    for (const [what, headers] of Object.entries(OWN)) {
      expect([what, (await ask(pages, '/api/status', { headers })).status]).toEqual([what, 200]);
    }
  });

  test('is refused also from another port of the same host, for requests and for WebSockets', async () => {
    const pages = await startPages(await startEngine('uws'));
    const own = `127.0.0.1:${pages.httpPort}`;
    for (const origin of [
      'http://127.0.0.1:9',
      'https://127.0.0.1',
      'http://localhost:9',
      `http://localhost:${pages.httpPort}`,
    ]) {
      for (const path of ['/api/live', '/ws/stream/a/b']) {
        const { status } = await tryUpgrade(pages.httpPort, { path, headers: { host: own, origin } });
        expect([origin, path, status]).toEqual([origin, path, 403]);
      }
      expect([origin, (await ask(pages, '/api/status', { headers: { host: own, origin } })).status]).toEqual([
        origin,
        403,
      ]);
    }
    const headers = { host: own, origin: `http://${own}` };
    expect((await tryUpgrade(pages.httpPort, { path: '/api/live', headers })).status).toBe(101);
    expect((await ask(pages, '/api/status', { headers })).status).toBe(200);
  });

  test('is answered if it is a link to a page of the console', async () => {
    const pages = await startPages(await startEngine('uws'));
    const link = FOREIGN['a link that was clicked'] ?? {};
    for (const path of ['/', '/functions', '/traces?trace=abc']) {
      expect([path, (await ask(pages, path, { headers: link })).status]).toEqual([path, 200]);
    }
  });
});
