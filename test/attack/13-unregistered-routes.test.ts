// The status of a route without a worker: 404 at once if its worker unregistered it, and 503 for a while if its worker
// left and may return.

import { beforeEach, describe, expect, test, vi } from 'vitest';
import { http, registerWorker } from '../../src/sdk/index.ts';
import { ask, type HttpEngine, type HttpReply, startHttpEngine } from '../support/clients/http-engine.ts';
import { IiiClient } from '../support/clients/iii-client.ts';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { WorkerProcess } from '../support/engine/worker-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { restrictedUrl } from './restricted-page.ts';

const RESTRICTED =
  '{name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: [], allow_trigger_types: [http]}}}';
const AWAY = { status: 503, headers: { 'retry-after': '1' } };

// The iii client reports every connection on the console.
beforeEach(() => {
  vi.spyOn(console, 'debug').mockReturnValue(undefined);
});

describe('a route is 404 at once when a connected worker unregisters it', () => {
  test('with svc-sdk', async () => {
    await using engine = await startHttpEngine();
    const svc = registerWorker(engine.url, { handle_signals: false });
    const show = svc.registerFunction('a::show', () => ({ body: 'here' }));
    const route = svc.registerTrigger({ ...http('GET', '/a'), function_id: show });
    await route.ready();
    expect((await ask(engine, '/a')).status).toBe(200);
    route.unregister();
    // The answer shows that the engine has read the frame sent before.
    await show.trigger({});
    expect(await ask(engine, '/a')).toMatchObject({ status: 404 });
    await svc.shutdown();
  });

  test('with the iii SDK', async () => {
    await using engine = await startHttpEngine();
    await using client = new IiiClient(engine.url);
    client.sdk.registerFunction('a::show', async () => ({ body: 'here' }));
    const config = { api_path: '/a', http_method: 'GET' };
    const route = client.sdk.registerTrigger({ type: 'http', function_id: 'a::show', config });
    await client.ready();
    await waitFor('the route is there', async () => (await ask(engine, '/a')).status === 200);
    route.unregister();
    await client.call('a::show', {});
    expect(await ask(engine, '/a')).toMatchObject({ status: 404 });
  });

  test.each(['trusted', 'restricted'])('on a %s connection without an SDK', async (kind) => {
    await using engine = await startHttpEngine('', { workers: [RESTRICTED] });
    await using worker = await RawWorker.connect(kind === 'trusted' ? engine.url : restrictedUrl(engine));
    await serve(worker, '/a');
    expect((await ask(engine, '/a')).status).toBe(200);
    worker.send({ type: 'unregistertrigger', id: 'route' });
    await worker.settled();
    expect(await ask(engine, '/a')).toMatchObject({ status: 404 });
  });

  test('and for the old path when a worker changes the path of its trigger', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await serve(worker, '/a');
    await bind(worker, '/b');
    expect(await ask(engine, '/a')).toMatchObject({ status: 404 });
    expect(await ask(engine, '/b')).toMatchObject({ status: 200 });
  });
});

describe('a route is 503 with Retry-After when its worker leaves', () => {
  test('because it is killed', async () => {
    await using engine = await startHttpEngine();
    await using worker = await WorkerProcess.startRoute(engine.url, '/a', 'one');
    worker.kill('SIGKILL');
    await worker.ended();
    await waitFor('the route is away', async () => (await ask(engine, '/a')).status !== 502);
    expect(await ask(engine, '/a')).toMatchObject(AWAY);
  });

  test('because of SIGTERM, while its running call finishes', async () => {
    await using engine = await startHttpEngine();
    await using worker = await WorkerProcess.startRoute(engine.url, '/a', 'one');
    const running = ask(engine, '/a?ms=700');
    await worker.says('called');
    worker.kill('SIGTERM');
    const seen = await until(engine, '/a', ({ status }) => status !== 200);
    expect(seen.at(-1)).toMatchObject(AWAY);
    expect(await running).toMatchObject({ status: 200, text: '"one"' });
    await worker.ended();
    expect(await ask(engine, '/a')).toMatchObject(AWAY);
  });

  test('with the iii SDK, which closes without a draining frame', async () => {
    await using engine = await startHttpEngine();
    const client = new IiiClient(engine.url);
    client.sdk.registerFunction('a::show', async () => ({ body: 'here' }));
    client.sdk.registerTrigger({ type: 'http', function_id: 'a::show', config: { api_path: '/a' } });
    await client.ready();
    await waitFor('the route is there', async () => (await ask(engine, '/a')).status === 200);
    await client[Symbol.asyncDispose]();
    const seen = await until(engine, '/a', ({ status }) => status === 503 || status === 404);
    expect(seen.at(-1)).toMatchObject(AWAY);
  });

  test('with any client that sends `draining` before it unregisters the route', async () => {
    await using engine = await startHttpEngine('', { workers: [RESTRICTED] });
    for (const url of [engine.url, restrictedUrl(engine)]) {
      await using worker = await RawWorker.connect(url);
      await serve(worker, '/a');
      worker.send({ type: 'draining' });
      worker.send({ type: 'unregistertrigger', id: 'route' });
      await worker.settled();
      expect(await ask(engine, '/a')).toMatchObject(AWAY);
    }
  });
});

test('Requests during a rolling restart with SIGTERM are answered 200 or 503, never 404', async () => {
  await using engine = await startHttpEngine();
  let workers = [
    await WorkerProcess.startRoute(engine.url, '/a', 'one'),
    await WorkerProcess.startRoute(engine.url, '/a', 'two'),
  ];
  const counts = new Map<number, number>();
  let isOver = false;
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const { status } = await ask(engine, '/a?ms=5');
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  });
  for (const name of ['three', 'four']) {
    const [old, ...others] = workers;
    old?.kill('SIGTERM');
    await old?.ended();
    workers = [...others, await WorkerProcess.startRoute(engine.url, '/a', name)];
  }
  // Both at once: no worker has the route for a while.
  for (const worker of workers) worker.kill('SIGTERM');
  await Promise.all(workers.map((worker) => worker.ended()));
  expect(await ask(engine, '/a')).toMatchObject(AWAY);
  await using last = await WorkerProcess.startRoute(engine.url, '/a', 'five');
  isOver = true;
  await Promise.all(clients);
  expect([...counts.keys()].sort()).toEqual([200, 503]);
  expect(await ask(engine, '/a')).toMatchObject({ status: 200, text: '"five"' });
  last.kill('SIGTERM');
  await last.ended();
});

async function serve(worker: RawWorker, path: string): Promise<void> {
  await worker.serve('a::show', () => ({ body: 'here' }));
  await bind(worker, path);
}

async function bind(worker: RawWorker, path: string): Promise<void> {
  worker.send({
    type: 'registertrigger',
    id: 'route',
    trigger_type: 'http',
    function_id: 'a::show',
    config: { api_path: path, http_method: 'GET' },
  });
  await worker.settled();
}

/** Repeats the request until an answer is the wanted one, and returns all answers. */
async function until(engine: HttpEngine, path: string, isWanted: (reply: HttpReply) => boolean): Promise<HttpReply[]> {
  const seen: HttpReply[] = [];
  await waitFor(`the answer for ${path}`, async () => {
    const reply = await ask(engine, path);
    seen.push(reply);
    return isWanted(reply);
  });
  return seen;
}
