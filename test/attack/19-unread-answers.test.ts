// HTTP clients that send requests and never read an answer.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ask, type HttpEngine, startHttpEngine } from '../support/clients/http-engine.ts';
import { RawWorker } from '../support/clients/raw-worker.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

test('One connection that sends 400 000 requests for unknown paths in large pieces is closed', async () => {
  await using engine = await startHttpEngine();
  const client = await openUnread(engine);
  let isCut = false;
  client.once('close', () => {
    isCut = true;
  });
  const piece = requestOf('/nowhere').repeat(1_000);
  for (let sent = 0; sent < 400 && !isCut; sent++) {
    await new Promise<void>((resolve) => client.write(piece, () => resolve()));
    await ask(engine, '/healthz');
  }
  expect(isCut).toBe(true);
  // What the operating system buffers for one connection, and what the engine read at once.
  expect(engine.counters.get('http.refused', '404')).toBeLessThan(100_000);
});

test('One connection that requests 20 KiB time after time has its answers buffered once', async () => {
  await using engine = await startHttpEngine();
  await using worker = await RawWorker.connect(engine.url);
  let calls = 0;
  await serveAt(worker, '/some', () => {
    calls++;
    return { body: 'x'.repeat(20 * KIB) };
  });
  const client = await openUnread(engine);
  const isHandled = async (): Promise<boolean> => {
    const before = calls;
    client.write(requestOf('/some'));
    // Many other requests are answered meanwhile.
    for (let others = 0; calls === before && others < 50; others++) await ask(engine, '/healthz');
    return calls > before;
  };
  while (calls < 4_000 && (await isHandled()));
  expect(calls).toBeLessThan(1_000);
  client.destroy();
});

test('Unread answers of many connections have 32 MiB together, and the connection that waits longest is closed', async () => {
  await using engine = await startHttpEngine('', { top: 'limits: {http: {answer_buffers_bytes: 33554432}}' });
  await using worker = await RawWorker.connect(engine.url);
  await serveAt(worker, '/large', () => ({ body: 'x'.repeat(10 * MIB) }));
  const clients: Socket[] = [];
  while (engine.counters.get('http.refused', 'unread_answers') === 0) {
    expect(clients.length).toBeLessThan(30);
    const client = await openUnread(engine);
    clients.push(client);
    client.write(requestOf('/large'));
    // Handled after the request before it, and not itself large.
    await ask(engine, '/healthz');
  }
  const [first] = clients;
  if (first === undefined) throw new Error('No client was opened');
  let received = 0;
  first.on('data', (bytes: Buffer) => {
    received += bytes.length;
  });
  first.resume();
  await once(first, 'close');
  expect(received).toBeLessThan(10 * MIB);
  // A client that reads is served whole meanwhile.
  expect((await ask(engine, '/large')).text).toHaveLength(10 * MIB + 2);
  for (const client of clients) client.destroy();
});

function requestOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

async function openUnread(engine: HttpEngine): Promise<Socket> {
  const client = connect(engine.httpPort, '127.0.0.1');
  client.on('error', () => {});
  await once(client, 'connect');
  client.pause();
  return client;
}

async function serveAt(worker: RawWorker, path: string, handler: () => unknown): Promise<void> {
  await worker.serve('api::serve', handler);
  const config = { api_path: path };
  worker.send({ type: 'registertrigger', id: 'route', trigger_type: 'http', function_id: 'api::serve', config });
  await worker.settled();
}
