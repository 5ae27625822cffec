// The places of a trusted worker are shared by all who call it. Pages that call one slow function must not make the
// other functions of that worker unavailable: they have half of the places.

import { expect, test } from 'vitest';
import { HttpTarget } from '../../support/clients/http-target.ts';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

test('seventeen pages that call a slow function take half of the places of its worker', async () => {
  await using engine = await startEngine();
  await using worker = await RawWorker.connect(engine.url);
  await using caller = await RawWorker.connect(engine.url);
  await worker.register('api::slow');
  await worker.serve('orders::own', () => 'done');
  const pages = await connectMany(engine, 17);
  for (const page of pages) callMany(page, 'api::slow', 64);
  for (const page of pages) await page.settled();
  expect(callsOf(worker).length).toBe(512);
  expect(await caller.call('orders::own', {})).toMatchObject({ result: 'done' });
  expect(await pages.at(-1)?.next('invocationresult')).toMatchObject({
    error: { code: 'OVERLOADED', message: expect.stringContaining('half of the places of a worker') },
  });
  for (const one of pages) one.close();
});

test('a worker with few places keeps half of them; one with a free place gets the call', async () => {
  await using engine = await startEngine();
  await using small = await RawWorker.connect(engine.url);
  await using large = await RawWorker.connect(engine.url);
  await using page = await RawWorker.connect(String(engine.urls[1]));
  await small.call('engine::workers::register', { max_in_flight: 3 });
  await small.register('api::slow');
  callMany(page, 'api::slow', 5);
  await page.settled();
  await small.settled();
  expect(callsOf(small).length).toBe(2);
  await large.register('api::slow');
  callMany(page, 'api::slow', 5);
  await page.settled();
  await large.settled();
  expect([small, large].map((one) => callsOf(one).length)).toEqual([2, 5]);
  // Each answer frees a place.
  for (const call of callsOf(small)) small.answer(call, { result: null });
  await small.settled();
  callMany(page, 'api::slow', 1);
  await waitFor('the small worker is called', () => callsOf(small).length === 3);
});

test('calls of the middleware count as calls of the pages that they are made for', async () => {
  await using engine = await startEngine(', middleware_function_id: orders::check');
  await using worker = await RawWorker.connect(engine.url);
  await using caller = await RawWorker.connect(engine.url);
  await worker.call('engine::workers::register', { max_in_flight: 20 });
  await worker.register('orders::check');
  await worker.serve('orders::own', () => 'done');
  await worker.register('api::slow');
  await using page = await RawWorker.connect(String(engine.urls[1]));
  callMany(page, 'api::slow', 30);
  await page.settled();
  await worker.settled();
  expect(callsOf(worker).length).toBe(10);
  expect(await caller.call('orders::own', {})).toMatchObject({ result: 'done' });
});

test('pages take half of the concurrent requests of a function that is a URL', async () => {
  const held: (() => void)[] = [];
  await using target = await HttpTarget.start((response, { body }) => {
    if (body === '"page"') held.push(() => response.end('{}'));
    else response.end('"done"');
  });
  await using engine = await startEngine('', 'outgoing: {allow: [127.0.0.1]}');
  await using worker = await RawWorker.connect(engine.url);
  worker.send({ type: 'registerfunction', id: 'api::remote', invocation: { url: target.url } });
  await worker.settled();
  const pages = await connectMany(engine, 5);
  for (const page of pages) callMany(page, 'api::remote', 60, 'page');
  for (const page of pages) await page.settled();
  await waitFor('half of the requests are in flight', () => held.length === 128);
  expect(await worker.call('api::remote', 'trusted')).toMatchObject({ result: 'done' });
  for (const page of pages) page.close();
  for (const end of held) end();
});

function callMany(page: RawWorker, id: string, count: number, data: unknown = {}): void {
  for (let call = 0; call < count; call++) page.startCall(id, data);
}

function callsOf(worker: RawWorker): Frame[] {
  return worker.frames.filter(({ type }) => type === 'invokefunction');
}

function connectMany(engine: TestEngine, count: number): Promise<RawWorker[]> {
  return Promise.all(Array.from({ length: count }, () => RawWorker.connect(String(engine.urls[1]))));
}

function startEngine(port = '', settings = ''): Promise<TestEngine> {
  return startTestEngine({
    yaml: `drain_timeout_ms: 100
${settings}
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: ['match("api::*")']}${port}}}
`,
  });
}
