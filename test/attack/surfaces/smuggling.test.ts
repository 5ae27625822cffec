// Requests whose end two parsers may see in different places, sent to the HTTP port of a running engine: a request that
// is hidden in another one never runs, on either transport. Also answers in which a handler hides a second answer.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sendBytes, statusesIn } from '../../contract/transport/http-port.ts';
import { AMBIGUOUS_REQUESTS, BROKEN_REQUESTS, EVIL_PATH } from '../../contract/transport/smuggled-requests.ts';
import { type HttpEngine, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';

const EVIL = `GET ${EVIL_PATH} HTTP/1.1\r\nHost: a\r\n\r\n`;
const CHUNKS = `0\r\n\r\n${EVIL}`;
const LENGTH = `Content-Length: ${CHUNKS.length}`;

function post(headers: string, body: string): string {
  return `POST /a HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`;
}

const chunked = (body: string): string => post('Transfer-Encoding: chunked', body);

/** In addition to the published ones: spellings of an encoding or a length that only some parsers accept. */
const DISGUISES: Readonly<Record<string, string>> = {
  'an encoding after a tab, with a length': post(`${LENGTH}\r\nTransfer-Encoding:\tchunked`, CHUNKS),
  'an encoding in mixed case, with a length': post(`${LENGTH}\r\ntRANSFER-eNCODING: cHUNKED`, CHUNKS),
  'a tab before the colon of the encoding': post(`${LENGTH}\r\nTransfer-Encoding\t: chunked`, CHUNKS),
  'a no-break space before the colon of the encoding': post(`${LENGTH}\r\nTransfer-Encoding\xa0: chunked`, CHUNKS),
  'an encoding as the first line, indented': `POST /a HTTP/1.1\r\n Transfer-Encoding: chunked\r\nHost: a\r\n${LENGTH}\r\n\r\n${CHUNKS}`,
  'an encoding named twice': post('Transfer-Encoding: chunked, chunked', CHUNKS),
  'an encoding with a comma after it': post(`Transfer-Encoding: chunked,\r\n${LENGTH}`, CHUNKS),
  'an encoding with a parameter': post('Transfer-Encoding: chunked;q=1', CHUNKS),
  'an encoding in HTTP/1.0': chunked(CHUNKS).replace('HTTP/1.1', 'HTTP/1.0'),
  'a length with a fraction': post('Content-Length: 0.0', EVIL),
  'a length with an exponent': post('Content-Length: 0e0', EVIL),
  'a length with an underscore': post(`Content-Length: 1_0`, EVIL),
  'a length in other digits': post('Content-Length: \xef\xbc\x90', EVIL),
  'a length after a NUL': post('Content-Length: \x000', EVIL),
  'a length and the same again, signed': post(`Content-Length: 0\r\nContent-Length: -0`, EVIL),
  'lengths of different readings': post(`Content-Length: 0\r\nContent-Length : ${EVIL.length}`, EVIL),
  'a chunk size with a sign': chunked(`+0\r\n\r\n${EVIL}`),
  'a chunk size with an underscore': chunked(`0_0\r\n\r\n${EVIL}`),
  'a chunk without a size': chunked(`\r\n\r\n${EVIL}`),
  'a chunk size that is no number': chunked(`zero\r\n\r\n${EVIL}`),
  'a chunk that ends with a bare CR': chunked(`3\r\nabc\r0\r\n\r\n${EVIL}`),
  'a chunk size that ends with a bare CR': chunked(`3\rabc\r\n${CHUNKS}`),
  'a chunk size with a minus before nothing': chunked(`-0\r\n\r\n${EVIL}`),
};

const LINES = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
const UPGRADE = `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n${LINES}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

/** Requests to the worker port that must not become an upgrade. */
const HIDDEN_UPGRADES: Readonly<Record<string, string>> = {
  'in the body of a request with a length': `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${UPGRADE.length}\r\n\r\n${UPGRADE}`,
  'after two lengths': `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n${UPGRADE}`,
  'after a length and an encoding': `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${UPGRADE}`,
  'with a folded header': UPGRADE.replace('Upgrade: websocket', 'Upgrade:\r\n websocket'),
  'by another method': UPGRADE.replace('GET', 'POST'),
};

/** A header of a handler that would add a second answer. */
const SPLIT = 'b\r\nContent-Length: 0\r\n\r\nHTTP/1.1 201 Created\r\n\r\n';
const SPLITS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'line ends in a value': { 'x-a': SPLIT },
  'line ends in a name': { 'x-a: b\r\n\r\nHTTP/1.1 201 Created\r\nx-b': 'c' },
  'a bare LF in a value': { 'x-a': SPLIT.replaceAll('\r', '') },
  'a bare CR in a value': { 'x-a': SPLIT.replaceAll('\n', '') },
  'a letter whose low byte is a line end': { 'x-a': SPLIT.replaceAll('\r', '\u010d').replaceAll('\n', '\u010a') },
  'line ends in one of several values': { 'set-cookie': ['a=b', SPLIT] },
  'a length of its own': { 'content-length': '0', 'x-a': 'b' },
  'an encoding of its own': { 'transfer-encoding': 'chunked' },
};

/** Round trips of the worker while a request is open. */
const ROUNDS = 5;

describe.each(['uws', 'ws'])('an HTTP port on %s', (transport) => {
  let engine: HttpEngine;
  let worker: RawWorker;
  const ran: string[] = [];

  beforeAll(async () => {
    vi.stubEnv('SVC_TRANSPORT', transport);
    engine = await startHttpEngine('', { top: 'allowed_hosts: [a]' });
    worker = await RawWorker.connect(engine.url);
    for (const path of ['/a', EVIL_PATH]) {
      await worker.serve(`f${path}`, () => void ran.push(path));
      await route(path, `f${path}`);
    }
  });

  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]();
    await engine?.drain();
  });

  async function route(path: string, function_id: string): Promise<void> {
    for (const http_method of ['GET', 'POST']) {
      const config = { api_path: path, http_method };
      worker.send({ type: 'registertrigger', id: http_method + path, trigger_type: 'http', function_id, config });
    }
    await worker.settled();
  }

  /** Gives the engine time to handle the bytes before the connection ends. */
  const send = (bytes: string): Promise<string> =>
    sendBytes(engine.httpPort, bytes, async (answered) => {
      const rounds = async (): Promise<void> => {
        for (let round = 0; round < ROUNDS; round++) await worker.settled();
      };
      await Promise.race([answered, rounds()]);
      await rounds();
    });

  const get = (path: string): Promise<string> =>
    sendBytes(
      engine.httpPort,
      `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      async (answered) => await answered,
    );

  /** Expects one answer, or only refusals. */
  function expectNoSecond(statuses: readonly number[]): void {
    const expected = statuses.length <= 1 ? statuses : statuses.filter((status) => status >= 400);
    expect(statuses).toEqual(expected);
    expect(ran).not.toContain(EVIL_PATH);
  }

  const requests = { ...AMBIGUOUS_REQUESTS, ...DISGUISES };
  test.each(Object.entries(requests))('%s: the hidden request does not run', async (_name, request) => {
    expectNoSecond(statusesIn(await send(request)));
  });

  test.each(Object.entries(BROKEN_REQUESTS))('%s: a request after it does not run', async (_name, request) => {
    expectNoSecond(statusesIn(await send(request + EVIL)));
  });

  test.each(Object.entries(SPLITS))('an answer with %s is one answer', async (name, headers) => {
    const path = `/split/${name.replaceAll(' ', '-')}`;
    await worker.serve(`f${path}`, () => ({ status_code: 200, headers, body: { all: 'of it' } }));
    await route(path, `f${path}`);
    const answer = await get(path);
    expect(answer.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
    expect(answer.match(/^content-length:/gim)?.length ?? 0).toBeLessThanOrEqual(1);
  });

  test.each(['websocket', 'h2c', 'TLS/1.2', 'websocket, h2c'])('an upgrade to %s opens nothing', async (protocol) => {
    const lines = `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA`;
    const answer = await send(`GET /a HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n`);
    expect(answer).not.toMatch(/^HTTP\/1\.1 101/m);
  });

  test.each(Object.entries(HIDDEN_UPGRADES))('an upgrade hidden %s makes no worker', async (_name, request) => {
    expect(await sendBytes(engine.port, request)).not.toMatch(/HTTP\/1\.1 101|workerregistered/);
  });

  test('a plain request is served after all of them', async () => {
    ran.length = 0;
    for (const path of ['/a', EVIL_PATH]) {
      const answer = await get(path);
      expect(statusesIn(answer)).toEqual([204]);
    }
    expect(ran).toEqual(['/a', EVIL_PATH]);
  });
});
