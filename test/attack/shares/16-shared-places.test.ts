// Restricted connections share tables with trusted workers: subscriptions of a topic, triggers with a queue, and calls
// in flight. They get a part of each, and the rest is reserved for trusted workers.

import { expect, test } from 'vitest';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectPage, leave } from '../restricted-page.ts';

test('A page that unsubscribes does not end the same subscription of an absent trusted worker', async () => {
  await using engine = await startEngine();
  await using other = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  // With another subscriber the message is not kept for later ones.
  expect(await subscribe(other, 'orders::count')).toBeUndefined();
  expect(await subscribe(page, 'api::mail')).toBeUndefined();
  const mailer = await RawWorker.connect(engine.url);
  expect(await subscribe(mailer, 'api::mail')).toBeUndefined();
  await leave(mailer);
  page.send({ type: 'unregistertrigger', id: triggerId(page, 'api::mail', 'mail') });
  await page.settled();
  await other.call('svc::durable::publish', { topic: 'mail', data: 'for the mailer' });
  await using back = await RawWorker.connect(engine.url);
  const ran: unknown[] = [];
  await back.serve('api::mail', (data) => ran.push(data));
  await subscribe(back, 'api::mail');
  await waitFor('the message has run', () => ran.length === 1);
});

test('A trusted worker that unsubscribes ends its subscription although a page has the same one', async () => {
  await using engine = await startEngine();
  await using page = await connectPage(engine);
  await using mailer = await RawWorker.connect(engine.url);
  await subscribe(page, 'api::mail');
  await subscribe(mailer, 'api::mail');
  for (const worker of [mailer, page]) {
    worker.send({ type: 'unregistertrigger', id: triggerId(worker, 'api::mail', 'mail') });
    await worker.settled();
  }
  await mailer.call('svc::durable::publish', { topic: 'mail', data: 1 });
  const { result } = await mailer.call('engine::queue::topic_stats', { topic: 'mail' });
  // The message is kept for a first subscriber, and the ended subscription got no copy.
  expect(result).toMatchObject({ consumer_count: 0 });
});

test('Pages can have a hundred subscriptions of one topic and a thousand in all', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  const pages = await connectMany(engine, 12);
  const refused: Frame[][] = [];
  for (const [number, page] of pages.entries()) {
    // Two pages subscribe to one topic, each other page to its own.
    const topic = number < 2 ? 'mail' : `topic-${number}`;
    for (let place = 0; place < 100; place++) sendSubscription(page, `api::f${number}-${place}`, topic);
    await page.settled();
    refused.push(page.frames.filter(({ type }) => type === 'triggerregistrationresult'));
  }
  expect(refused.map(({ length }) => length)).toEqual([0, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100]);
  expect(refused[1]?.[0]?.error).toMatchObject({
    message: "Restricted ports have 100 subscriptions to 'mail' together, the limit",
  });
  expect(refused[11]?.[0]?.error).toMatchObject({ message: expect.stringContaining('1000 subscriptions together') });
  // Trusted workers have no such limit, and an ended subscription no longer counts.
  expect(await subscribe(client, 'orders::mail')).toBeUndefined();
  const [first] = pages;
  if (first === undefined) throw new Error('No page connected');
  first.send({ type: 'unregistertrigger', id: triggerId(first, 'api::f0-0', 'mail') });
  await first.settled();
  expect(await subscribe(first, 'api::later')).toBeUndefined();
  for (const page of pages) page.close();
});

test('Pages can have a tenth of the triggers with a queue', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  const pages = await connectMany(engine, 2);
  const bound = { type: 'registertrigger', trigger_type: 'state', function_id: 'api::x' };
  for (const page of pages) {
    for (let place = 0; place < 60; place++) {
      page.send({ ...bound, id: `${page.workerId} ${place}`, config: { scope: `s-${place}`, queue: 'default' } });
    }
    await page.settled();
  }
  const refused = pages.map(({ frames }) => frames.filter(({ type }) => type === 'triggerregistrationresult').length);
  expect(refused).toEqual([0, 20]);
  client.send({ ...bound, id: 'real', config: { scope: 'orders', queue: 'default' } });
  await client.settled();
  expect(client.frames).toEqual([]);
  for (const page of pages) page.close();
});

test('Restricted connections together have 1000 cron triggers', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  const pages = await connectMany(engine, 11);
  const bound = { type: 'registertrigger', trigger_type: 'cron', function_id: 'api::tick' };
  const config = { expression: '0 0 1 1 *' };
  for (const page of pages) {
    for (let place = 0; place < 100; place++) {
      page.send({
        ...bound,
        id: `${page.workerId} ${place}`,
        config,
        metadata: { place: `${page.workerId} ${place}` },
      });
    }
    await page.settled();
  }
  const refused = pages.map(({ frames }) => frames.filter(({ type }) => type === 'triggerregistrationresult'));
  expect(refused.map(({ length }) => length)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100]);
  await using other = await RawWorker.connect(String(engine.urls[1]));
  const [first] = pages;
  expect(refused[10]?.[0]?.error).toMatchObject({
    message: 'Restricted ports have 1000 cron triggers together, the limit',
  });
  client.send({ ...bound, id: 'real', config });
  await client.settled();
  expect(client.frames).toEqual([]);
  // What a page gives up is free again; a trigger that is registered again takes no second place.
  first?.send({ ...bound, id: `${first.workerId} 1`, config });
  first?.send({ type: 'unregistertrigger', id: `${first.workerId} 0` });
  await first?.settled();
  for (const id of ['later', 'too many']) other.send({ ...bound, id, config });
  await other.settled();
  expect([first?.frames, other.frames]).toMatchObject([[], [{ id: 'too many' }]]);
  for (const page of pages) page.close();
});

test('Calls that pages never answer use at most half of the calls in flight', async () => {
  await using engine = await startEngine('{engine: {in_flight: 100}}');
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  await client.serve('orders::own', () => 'done');
  await client.register('api::slow');
  // The triggers of the page call its own function, and the page calls a trusted one.
  await page.register('x::slow');
  for (let place = 0; place < 90; place++) {
    const bound = { trigger_type: 'state', function_id: 'x::slow', config: {}, metadata: { place } };
    page.send({ type: 'registertrigger', id: `t-${place}`, ...bound });
  }
  await page.settled();
  await client.call('state::set', { scope: 'a', key: 'b', value: 1 });
  expect(await page.call('api::slow', {})).toMatchObject({
    error: { code: 'OVERLOADED', message: expect.stringContaining('half of limits.engine.in_flight') },
  });
  for (let call = 0; call < 45; call++) client.startCall('api::slow', {});
  expect(await client.call('orders::own', {})).toMatchObject({ result: 'done' });
  const received = page.frames.filter(({ type }) => type === 'invokefunction');
  expect(received.length).toBe(50);
  // Answered calls no longer count.
  for (const call of received) page.answer(call, { result: null });
  await page.settled();
  page.startCall('api::slow', {});
  await waitFor(
    'the call of the page runs',
    () => client.frames.filter(({ type }) => type === 'invokefunction').length === 46,
  );
});

test('A change of the functions reaches all hundred triggers of a page, without hidden functions', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  const seen: string[] = [];
  await page.serve('x::changed', (event) => seen.push(JSON.stringify(event)));
  for (let place = 0; place < 99; place++) {
    const bound = {
      trigger_type: 'engine::functions-available',
      function_id: 'x::changed',
      config: {},
      metadata: { place },
    };
    page.send({ type: 'registertrigger', id: `t-${place}`, ...bound });
  }
  await page.settled();
  for (const id of ['api::a', 'orders::hidden']) await client.register(id);
  await waitFor('all triggers have fired', () => seen.filter((text) => text.includes('api::a')).length >= 99);
  expect(JSON.parse(String(seen.at(-1)))).toMatchObject({
    event: 'functions_changed',
    functions: [{ function_id: 'api::a', status: 'active' }],
  });
  expect(seen.some((text) => text.includes('orders::hidden'))).toBe(false);
});

test('A page can fill a thousand topics without subscribers', async () => {
  await using engine = await startEngine('{browser: {messages_per_second: 100000, messages_burst: 100000}}');
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  const refused = await publishToMany(page, 1_100);
  expect(refused.length).toBe(100);
  expect(refused[0]?.error).toMatchObject({ code: 'OVERLOADED' });
  // The page can publish to its topics again, and trusted workers to any number of them.
  expect(await page.call('svc::durable::publish', { topic: 'name-0', data: 2 })).not.toHaveProperty('error');
  expect(await publishToMany(client, 1_200)).toEqual([]);
});

test('A list of eight thousand topics takes less than 2.5 s of processor time', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  expect(await publishToMany(client, 8_000, 200)).toEqual([]);
  const before = process.cpuUsage();
  const { result } = await client.call('engine::queue::list', {});
  const { user, system } = process.cpuUsage(before);
  expect(Array.isArray(result) && result.length).toBeGreaterThanOrEqual(8_000);
  // It took 7 s when the work grew with the square of their number.
  expect((user + system) / 1e6).toBeLessThan(2.5);
});

/** Returns the refusals. */
async function publishToMany(worker: RawWorker, count: number, together = 50): Promise<Frame[]> {
  const refused: Frame[] = [];
  for (let from = 0; from < count; from += together) {
    const names = Array.from({ length: Math.min(together, count - from) }, (_, place) => `name-${from + place}`);
    const answers = await Promise.all(names.map((topic) => worker.call('svc::durable::publish', { topic, data: 1 })));
    refused.push(...answers.filter(({ error }) => error !== undefined));
  }
  return refused;
}

function triggerId({ workerId }: RawWorker, functionId: string, topic: string): string {
  return `${workerId} ${functionId} ${topic}`;
}

function sendSubscription(worker: RawWorker, functionId: string, topic: string): void {
  worker.send({
    type: 'registertrigger',
    id: triggerId(worker, functionId, topic),
    trigger_type: 'durable:subscriber',
    function_id: functionId,
    config: { topic },
  });
}

/** The refusal, if there is one. */
async function subscribe(worker: RawWorker, functionId: string): Promise<Frame | undefined> {
  const before = worker.frames.length;
  sendSubscription(worker, functionId, 'mail');
  await worker.settled();
  return worker.frames.slice(before).find(({ type }) => type === 'triggerregistrationresult');
}

function connectMany(engine: TestEngine, count: number): Promise<RawWorker[]> {
  return Promise.all(Array.from({ length: count }, () => connectPage(engine)));
}

function startEngine(limits = '{}'): Promise<TestEngine> {
  const types = "[cron, state, 'durable:subscriber', 'engine::functions-available']";
  const exposed = `['match("api::*")', 'match("svc::durable::publish")']`;
  const rules = `expose_functions: ${exposed}, allow_trigger_types: ${types}`;
  return startTestEngine({
    yaml: `drain_timeout_ms: 300
limits: ${limits}
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {${rules}}}}
  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-cron, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}
`,
  });
}
