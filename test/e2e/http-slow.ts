// Test 35 of the guarantees in its short form: slow heads, slow bodies, slow readers, and whoever else asks meanwhile.
// The limits are those of the libraries, so the time that passes here is real.

import { connect, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { ask, startHttpEngine } from '../support/http-engine.ts';
import { RawWorker } from '../support/raw-worker.ts';
import { waitFor } from '../support/wait-for.ts';

const SLOW_MS_MAX = 45_000;
const EACH = 100;
const LONG = { timeout: 90_000 };
const HEAD = 'POST /a HTTP/1.1\r\nHost: a\r\n';

/** A file for each transport: most of the time is spent waiting. */
export function testSlowPeers(transport: 'uws' | 'ws'): void {
  test(`[fault 35] slow peers are ended in time, and others are served meanwhile, on ${transport}`, LONG, async () => {
    vi.stubEnv('SVC_TRANSPORT', transport);
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('any::post', () => ({ body: 'x'.repeat(1_000_000) }));
    const config = { api_path: '/a', http_method: 'POST' };
    worker.send({ type: 'registertrigger', id: 't', trigger_type: 'http', function_id: 'any::post', config });
    await worker.settled();
    const peers = [
      ...many(engine.httpPort, HEAD),
      ...many(engine.httpPort, `${HEAD}Content-Length: 100000\r\n\r\nhalf`),
      ...many(engine.httpPort, `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhal`),
    ];
    const isOver = () => peers.every(({ destroyed }) => destroyed);
    let served = 0;
    await waitFor(
      'all slow peers are ended',
      async () => {
        expect(await ask(engine, '/a', { method: 'POST' })).toMatchObject({ status: 200 });
        served++;
        return isOver();
      },
      SLOW_MS_MAX,
    );
    expect(served).toBeGreaterThan(100);
    vi.unstubAllEnvs();
  });
}

/** Peers that say the beginning of something, and then nothing. */
function many(port: number, beginning: string): Socket[] {
  return Array.from({ length: EACH }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    socket.write(beginning);
    return socket;
  });
}
