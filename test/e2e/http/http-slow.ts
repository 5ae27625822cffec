// Fault test 35 in its short form: slow heads, slow bodies and slow readers, while another client gets its answers.
// The limits are those of the libraries, so this test takes real time.

import { connect, type Socket } from 'node:net';
import { setInterval } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ask, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { clientsOf } from '../../support/engine/sockets-on.ts';
import { faultLine } from '../../support/load/fault-line.ts';

const SLOW_MS_MAX = 75_000;
const EACH = 100;
/** An answer that exceeds the buffers of the system, for clients that do not read. */
const BIG_BYTES = 8 * 1024 * 1024;
const READERS = 8;
/** The other client pauses between requests: without a pause it would use a whole core. */
const PACE_MS = 100;
const LONG = { timeout: 120_000 };
const HEAD = 'POST /a HTTP/1.1\r\nHost: localhost\r\n';

/** A file for each transport: most of the time is spent waiting. */
export function testSlowPeers(transport: 'uws' | 'ws'): void {
  test(`[fault 35] Slow clients are closed in time while another one is served, on ${transport}`, LONG, async () => {
    const line = faultLine('35', `slow requests on ${transport}`, 'left open=0');
    vi.stubEnv('SVC_TRANSPORT', transport);
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('any::post', () => ({ body: 'x'.repeat(1_000_000) }));
    // Its large frames would delay the answers to the other client.
    await using sender = await RawWorker.connect(engine.url);
    await sender.serve('any::big', () => ({ body: 'x'.repeat(BIG_BYTES) }));
    for (const [api_path, function_id] of Object.entries({ '/a': 'any::post', '/big': 'any::big' })) {
      const config = { api_path, http_method: 'POST' };
      worker.send({ type: 'registertrigger', id: api_path, trigger_type: 'http', function_id, config });
    }
    await worker.settled();
    const readers = Array.from({ length: READERS }, () => new StillReader(engine.httpPort));
    const clients = [
      ...many(engine.httpPort, HEAD),
      ...many(engine.httpPort, `${HEAD}Content-Length: 100000\r\n\r\nhalf`),
      ...many(engine.httpPort, `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhal`),
    ];
    let served = 0;
    const isOver = async (): Promise<boolean> => {
      const unread = await clientsOf(engine.httpPort);
      const reading = readers.filter(({ port }) => unread.has(port));
      const open = clients.filter(({ destroyed }) => !destroyed).length + reading.length;
      line.figure = `left open=${open},served=${served}`;
      return open === 0;
    };
    const endMs = performance.now() + SLOW_MS_MAX;
    for await (const _ of setInterval(PACE_MS)) {
      const { status, text } = await ask(engine, '/a', { method: 'POST' });
      expect({ status, text: text.slice(0, 500) }).toMatchObject({ status: 200 });
      served++;
      if (await isOver()) break;
      if (performance.now() > endMs) throw new Error('Some slow clients were not closed in time');
    }
    expect(served).toBeGreaterThan(10);
    // Their connections are closed, so their answers are incomplete.
    for (const reader of readers) expect(await reader.readOn()).toBeLessThan(BIG_BYTES);
    vi.unstubAllEnvs();
  });
}

/** A client that requests a large answer and does not read it. */
class StillReader {
  readonly #socket: Socket;
  #bytes = 0;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('error', () => {});
    this.#socket.pause();
    this.#socket.write('POST /big HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
  }

  /** Of its own end. */
  get port(): number {
    return this.#socket.localPort ?? 0;
  }

  /** Reads the rest; resolves with the number of bytes at the end of the connection or of the answer. */
  async readOn(): Promise<number> {
    const ended = new Promise((resolve) => this.#socket.once('close', resolve));
    const whole = new Promise((resolve) => {
      this.#socket.on('data', (bytes: Buffer) => {
        this.#bytes += bytes.length;
        if (this.#bytes > BIG_BYTES) resolve(undefined);
      });
    });
    this.#socket.resume();
    await Promise.race([ended, whole]);
    this.#socket.destroy();
    return this.#bytes;
  }
}

/** Clients that send the beginning of a request and nothing more. */
function many(port: number, beginning: string): Socket[] {
  return Array.from({ length: EACH }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    socket.write(beginning);
    return socket;
  });
}
