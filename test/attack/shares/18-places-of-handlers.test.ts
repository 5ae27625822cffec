// HTTP clients and stream clients give a worker as many calls as it runs at a time. Its trusted callers must still reach
// it, and a client that disconnects must not make more handlers run than the limit allows.

import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type HttpEngine, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Calls that one worker runs at a time, and those of them that stream clients may cause. */
const PLACES = 64;
const STREAM_PLACES = 32;

const IN_MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';
const STREAMS = `{name: svc-stream, config: {port: 0, host: 127.0.0.1, ${IN_MEMORY}}}`;

test('Clients that disconnect at once start no more handlers than concurrency_request_limit', async () => {
  await using scene = await openScene({ http: 'concurrency_request_limit: 5' });
  for (let sent = 0; sent < 60; sent++) await scene.askAndLeave();
  await scene.worker.settled();
  expect(scene.running()).toBe(5);
  // A place is free again when its handler has ended.
  for (let at = 0; at < 5; at++) scene.worker.answer(await scene.worker.next('invokefunction'), { result: {} });
  await scene.askAndLeave();
  await waitFor('the next one runs', () => scene.running() === 1);
});

test('A request whose client left while its middleware ran counts until the middleware ends', async () => {
  await using scene = await openScene({
    http: 'concurrency_request_limit: 5, middleware: [{function_id: slow::it, priority: 1}]',
  });
  for (let sent = 0; sent < 60; sent++) await scene.askAndLeave();
  await scene.worker.settled();
  expect(scene.running()).toBe(5);
  scene.worker.answer(await scene.worker.next('invokefunction'), { result: { action: 'continue' } });
  await scene.askAndLeave();
  await waitFor('the next one runs', () => scene.running() === 5);
});

test('Joins of stream clients leave half of the places of a worker to trusted callers', async () => {
  await using scene = await openScene();
  scene.worker.send({ type: 'registertrigger', id: 'join', trigger_type: 'stream:join', function_id: 'slow::it' });
  await scene.worker.settled();
  const clients = [1, 2].map(() => new WebSocket(scene.urls.streams));
  for (const client of clients) {
    await new Promise((resolve) => client.once('open', resolve));
    for (let at = 0; at < PLACES; at++) {
      client.send(
        JSON.stringify({ type: 'join', data: { subscriptionId: `s${at}`, streamName: 'news', groupId: 'all' } }),
      );
    }
  }
  await scene.expectTrustedCallToRun();
  for (const client of clients) client.terminate();
});

/** A worker whose function `slow::it`, which is a route too, answers when the test lets it. */
async function openScene({ http = '' } = {}) {
  const engine: HttpEngine = await startHttpEngine(http, {
    top: `limits: {trusted: {in_flight_per_worker: ${PLACES}}}`,
    workers: [STREAMS],
  });
  const [, streams = ''] = engine.urls.filter((url) => url.startsWith('ws:'));
  const worker = await RawWorker.connect(engine.url);
  await worker.serve('quick::it', () => 'done');
  await worker.register('slow::it');
  const config = { api_path: '/slow' };
  worker.send({ type: 'registertrigger', id: 'slow', trigger_type: 'http', function_id: 'slow::it', config });
  await worker.settled();
  const running = (): number => worker.frames.filter(({ type }) => type === 'invokefunction').length;
  return {
    worker,
    running,
    urls: { streams },
    /** The engine reads the request, then the end of the connection, and ends it too. */
    async askAndLeave(): Promise<void> {
      const client = connect(engine.httpPort, '127.0.0.1');
      client.on('error', () => {});
      const gone = new Promise((resolve) => client.once('close', resolve));
      client.end('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n');
      client.resume();
      await gone;
    },
    async expectTrustedCallToRun(): Promise<void> {
      await waitFor('the places of stream clients are taken', () => running() === STREAM_PLACES);
      await using trusted = await RawWorker.connect(engine.url);
      expect(await trusted.call('quick::it')).toMatchObject({ result: 'done' });
      expect(running()).toBe(STREAM_PLACES);
    },
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
    },
  };
}
