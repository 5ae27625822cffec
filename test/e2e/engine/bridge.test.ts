// Two engines, one of which uses functions, state and streams of the other over the worker protocol.

import { describe, expect, test } from 'vitest';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';

const IN_MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';

function start(entries: readonly string[], { port = 0, top = '' } = {}): Promise<TestEngine> {
  const all = [`{name: svc-worker-manager, config: {port: ${port}}}`, ...entries];
  return startTestEngine({
    yaml: [top, 'drain_timeout_ms: 100', 'workers:', ...all.map((one) => `  - ${one}`), ''].join('\n'),
  });
}

const bridge = (url: string, more = ''): string =>
  `{name: svc-bridge, config: {url: "${url}", service_name: far${more === '' ? '' : `, ${more}`}}}`;

interface Health {
  readonly status: string;
  readonly details: Record<string, unknown>;
}

async function healthOf(worker: RawWorker, module: string): Promise<Health> {
  const { result } = await worker.call('engine::health::check', {});
  return (result as { components: { modules: Record<string, Health> } }).components.modules[module] as Health;
}

async function isUp(worker: RawWorker, module = 'svc-bridge'): Promise<void> {
  const isHealthy = async (): Promise<boolean> => (await healthOf(worker, module)).status === 'healthy';
  // It tries again after longer and longer pauses.
  await waitFor(`${module} is connected`, isHealthy, 30_000);
}

const isFunction = async (worker: RawWorker, id: string): Promise<boolean> => {
  const { result } = await worker.call('engine::functions::info', { function_id: id });
  return result != null;
};

describe('functions of another engine', () => {
  test('[modules 14] a forwarded function is called under its local id, and the payload arrives digit for digit', async () => {
    await using far = await start([]);
    await using there = await RawWorker.connect(far.url);
    await there.register('shop::price');
    const forward = 'forward: [{local_function: remote::price, remote_function: shop::price}]';
    await using near = await start([bridge(far.url, forward)]);
    await using here = await RawWorker.connect(near.url);
    await isUp(here);
    const texts: string[] = [];
    there.socket.on('message', (text) => texts.push(String(text)));
    const sent = '{"n":1.50,"id":12345678901234567890}';
    here.sendText(`{"type":"invokefunction","invocation_id":"a","function_id":"remote::price","data":${sent}}`);
    const call = await there.next('invokefunction');
    expect(call).toMatchObject({ function_id: 'shop::price' });
    expect(texts.join('')).toContain(sent);
    expect(call.baggage).toContain('svc.depth=2');
    there.answer(call, { result: { total: 3 } });
    expect(await here.answerTo('a')).toMatchObject({ result: { total: 3 } });
    const failing = here.call('remote::price', {});
    there.answer(await there.next('invokefunction'), { error: { code: 'SOLD_OUT', message: 'no' } });
    expect(await failing).toMatchObject({ error: { code: 'SOLD_OUT', message: 'no' } });
  });

  test('[modules 14] an exposed function is offered to the other engine under its remote id', async () => {
    await using far = await start([]);
    await using near = await start([
      bridge(far.url, 'expose: [{local_function: shop::price, remote_function: far::price}]'),
    ]);
    await using here = await RawWorker.connect(near.url);
    await here.serve('shop::price', (data) => ({ got: data }));
    await using there = await RawWorker.connect(far.url);
    await waitFor('the function is there', () => isFunction(there, 'far::price'));
    expect(await there.call('far::price', { n: 1 })).toMatchObject({ result: { got: { n: 1 } } });
    const { result } = await there.call('engine::workers::list', {});
    expect(result).toMatchObject({ workers: expect.arrayContaining([expect.objectContaining({ name: 'far' })]) });
  });

  test('[modules 14] bridge.invoke calls any function; bridge.invoke_async waits for no answer', async () => {
    await using far = await start([]);
    await using there = await RawWorker.connect(far.url);
    await there.serve('shop::price', () => 5);
    await there.register('shop::log');
    await using near = await start([bridge(far.url)]);
    await using here = await RawWorker.connect(near.url);
    await isUp(here);
    expect(await here.call('bridge.invoke', { function_id: 'shop::price', data: {} })).toMatchObject({ result: 5 });
    const sent = await here.call('bridge.invoke_async', { function_id: 'shop::log', data: { line: 1 } });
    expect(sent.result ?? null).toBeNull();
    expect(await there.next('invokefunction')).toMatchObject({ function_id: 'shop::log', data: { line: 1 } });
    const wrong = await here.call('bridge.invoke', { data: {} });
    expect(wrong.error).toMatchObject({
      code: 'deserialization_error',
      message: expect.stringContaining('function_id'),
    });
    const silent = await here.call('bridge.invoke', { function_id: 'shop::log', data: {}, timeout_ms: 20 });
    expect(silent.error).toMatchObject({ code: 'TIMEOUT' });
  });

  test('[modules 14] calls fail with bridge_error while the other engine is away, and work when it is back', async () => {
    const port = await freePort();
    const url = `ws://127.0.0.1:${port}`;
    await using near = await start([bridge(url)]);
    await using here = await RawWorker.connect(near.url);
    const asked = { function_id: 'engine::functions::list', data: {} };
    const { error } = await here.call('bridge.invoke', asked);
    expect(error).toMatchObject({ code: 'bridge_error', message: expect.stringContaining(url) });
    expect((await here.call('bridge.invoke_async', asked)).error).toMatchObject({ code: 'bridge_error' });
    expect(await healthOf(here, 'svc-bridge')).toMatchObject({
      status: 'degraded',
      details: { address: url, reason: expect.stringContaining('away') },
    });
    for (let round = 0; round < 2; round++) {
      const far = await start([], { port });
      await isUp(here);
      expect(await here.call('bridge.invoke', asked)).toHaveProperty('result.functions');
      await far[Symbol.asyncDispose]();
      await waitFor('the other engine is away', async () => (await healthOf(here, 'svc-bridge')).status === 'degraded');
    }
  });

  test('[modules 14] mirrored functions follow the other engine, and those of this engine keep their ids', async () => {
    await using far = await start([]);
    await using there = await RawWorker.connect(far.url);
    await there.serve('shop::price', () => 'far');
    await there.serve('shop::own', () => 'far');
    await there.serve('other::price', () => 'far');
    await using near = await start([bridge(far.url, 'mirror: ["shop::*"]')]);
    await using here = await RawWorker.connect(near.url);
    await here.serve('shop::own', () => 'near');
    await waitFor('the function is mirrored', () => isFunction(here, 'shop::price'));
    expect(await here.call('shop::price')).toMatchObject({ result: 'far' });
    expect(await isFunction(here, 'other::price')).toBe(false);
    await there.serve('shop::late', () => 'late');
    await waitFor('a later function is mirrored', () => isFunction(here, 'shop::late'));
    there.send({ type: 'unregisterfunction', id: 'shop::price' });
    await waitFor('a function that is gone there is gone here', async () => !(await isFunction(here, 'shop::price')));
  });

  test('[modules 14] two engines that mirror each other do not send calls in circles', async () => {
    const port = await freePort();
    await using one = await start([bridge(`ws://127.0.0.1:${port}`, 'mirror: ["*"]')]);
    await using two = await start([bridge(one.url, 'mirror: ["*"]')], { port });
    await using ofOne = await RawWorker.connect(one.url);
    await ofOne.serve('shop::price', () => 'one');
    await using ofTwo = await RawWorker.connect(two.url);
    await waitFor('the function is mirrored', () => isFunction(ofTwo, 'shop::price'));
    await ofTwo.serve('shop::two', () => 'two');
    await waitFor('the other direction works', () => isFunction(ofOne, 'shop::two'));
    const refusals = (engine: TestEngine): string[] =>
      engine.log.filter((line) => line.includes('calls would go in circles'));
    await waitFor('the circle is refused', () => refusals(one).length > 0);
    ofOne.send({ type: 'unregisterfunction', id: 'shop::price' });
    await waitFor('the function is gone everywhere', async () => !(await isFunction(ofTwo, 'shop::price')));
    expect(await isFunction(ofOne, 'shop::price')).toBe(false);
  });

  test('[modules 14] [X7] restricted connections may not call bridge.invoke', async () => {
    await using far = await start([]);
    const port = '{name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: [\'match("*")\']}}}';
    await using near = await start([bridge(far.url), port]);
    await using page = await RawWorker.connect(near.urls[1] ?? '');
    const { error } = await page.call('bridge.invoke', { function_id: 'engine::functions::list', data: {} });
    expect(error).toMatchObject({ code: 'FORBIDDEN' });
  });
});

/** The payloads that a function got, and a call after which no more of them can come. */
async function recorded(worker: RawWorker, id: string): Promise<Frame[]> {
  const calls: Frame[] = [];
  await worker.serve(id, (data, frame) => {
    calls.push({ ...frame, data });
    return null;
  });
  return calls;
}

describe.each([
  { near: '', far: '' },
  { near: 'compat: iii', far: 'compat: iii' },
  { near: '', far: 'compat: iii' },
  { near: 'compat: iii', far: '' },
])('data of another engine (here "$near", there "$far")', ({ near: topHere, far: topThere }) => {
  const isBare = topHere !== '';

  test('[modules 14] state is read and written there, and each change fires triggers on both engines once', async () => {
    await using far = await start([`{name: svc-state, config: {${IN_MEMORY}}}`], { top: topThere });
    const adapter = `adapter: {name: bridge, config: {bridge_url: "${far.url}"}}`;
    await using near = await start([`{name: svc-state, config: {${adapter}}}`], { top: topHere });
    await using there = await RawWorker.connect(far.url);
    await using here = await RawWorker.connect(near.url);
    const [firedThere, firedHere] = [await recorded(there, 'on::change'), await recorded(here, 'on::change')];
    for (const worker of [there, here]) {
      worker.send({
        type: 'registertrigger',
        id: 't',
        trigger_type: 'state',
        function_id: 'on::change',
        config: { scope: 'a' },
      });
      await worker.settled();
    }
    await isUp(here, 'svc-state');
    await here.call('state::set', { scope: 'a', key: 'k', value: { n: 1 } });
    expect(await there.call('state::get', { scope: 'a', key: 'k' })).toMatchObject({ result: { n: 1 } });
    await there.call('state::set', { scope: 'a', key: 'k', value: { n: 2 } });
    expect(await here.call('state::get', { scope: 'a', key: 'k' })).toMatchObject({ result: { n: 2 } });
    await waitFor('both changes arrived', () => firedThere.length >= 2 && firedHere.length >= 2);
    await here.call('state::set', { scope: 'a', key: 'end', value: 0 });
    await waitFor('the last change arrived', () => firedThere.length >= 3 && firedHere.length >= 3);
    for (const fired of [firedThere, firedHere]) {
      expect(fired.map(({ data }) => (data as { key: string }).key)).toEqual(['k', 'k', 'end']);
    }
    const { details } = await healthOf(here, 'svc-state');
    expect(details).toMatchObject({
      address: far.url,
      weaker_promise: expect.stringContaining('fire no trigger here'),
    });
  });

  test('[modules 14] streams are there; subscribers and triggers here get each event once', async () => {
    const module = (store: string): string => `{name: svc-stream, config: {port: 0, host: 127.0.0.1, ${store}}}`;
    await using far = await start([module(IN_MEMORY)], { top: topThere });
    const adapter = `adapter: {name: bridge, config: {bridge_url: "${far.url}"}}`;
    await using near = await start([module(adapter)], { top: topHere });
    await using there = await RawWorker.connect(far.url);
    await using here = await RawWorker.connect(near.url);
    await isUp(here, 'svc-stream');
    const place = { stream_name: 's', group_id: 'g' };
    await here.call('stream::set', { ...place, item_id: 'a', data: { n: 1 } });
    const got = await here.call('stream::get', { ...place, item_id: 'a' });
    expect(got.result).toEqual(isBare ? { n: 1 } : { value: { n: 1 } });
    const listed = await here.call('stream::list', place);
    expect(listed.result).toEqual(isBare ? [{ n: 1 }] : { group: [{ n: 1 }] });
    const fired = await recorded(here, 'on::event');
    const config = { stream_name: 's' };
    here.send({ type: 'registertrigger', id: 't', trigger_type: 'stream', function_id: 'on::event', config });
    await here.settled();
    await using client = await StreamClient.connect(near.urls[1] ?? '');
    client.join({ subscriptionId: '1', streamName: 's', groupId: 'g' });
    const sync = await client.next();
    expect(sync).toMatchObject({ event: { type: 'sync', data: [{ n: 1 }], ids: ['a'] } });
    await waitFor('the trigger is bound there', async () => {
      const { result } = await there.call('engine::registered-triggers::list', {});
      return JSON.stringify(result).includes('"s"');
    });
    await there.call('stream::set', { ...place, item_id: 'b', data: { n: 2 } });
    await here.call('stream::set', { ...place, item_id: 'b', data: { n: 3 } });
    await here.call('stream::delete', { ...place, item_id: 'a' });
    const events = [await client.next(), await client.next(), await client.next()];
    expect(events.map(({ event }) => (event as { type: string }).type)).toEqual(['create', 'update', 'delete']);
    await waitFor('the triggers fired', () => fired.length >= 3);
    await here.call('stream::set', { ...place, item_id: 'end', data: 0 });
    expect(await client.next()).toMatchObject({ id: 'end', event: { type: 'create' } });
    await waitFor('the last trigger fired', () => fired.length >= 4);
    expect(fired.map(({ data }) => (data as { id: string }).id)).toEqual(['b', 'b', 'a', 'end']);
    const { details } = await healthOf(here, 'svc-stream');
    expect(details).toMatchObject({ weaker_promise: expect.stringContaining('events of streams may be missing') });
  });
});

test('[modules 14] state of an engine that is away fails with bridge_error, and works when it is back', async () => {
  const port = await freePort();
  const adapter = `adapter: {name: bridge, config: {bridge_url: "ws://127.0.0.1:${port}"}}`;
  await using near = await start([`{name: svc-state, config: {${adapter}}}`]);
  await using here = await RawWorker.connect(near.url);
  const { error } = await here.call('state::get', { scope: 'a', key: 'k' });
  expect(error).toMatchObject({ code: 'bridge_error', message: expect.stringContaining(`127.0.0.1:${port}`) });
  expect(await healthOf(here, 'svc-state')).toMatchObject({
    status: 'unhealthy',
    details: { trouble: expect.any(String) },
  });
  await using _far = await start([`{name: svc-state, config: {${IN_MEMORY}}}`], { port });
  await isUp(here, 'svc-state');
  expect(await here.call('state::set', { scope: 'a', key: 'k', value: 1 })).toHaveProperty('result.new_value', 1);
});

test('[modules 14] a subscriber reads its group again when the other engine was away', async () => {
  const port = await freePort();
  const module = (store: string): string => `{name: svc-stream, config: {port: 0, host: 127.0.0.1, ${store}}}`;
  const far = await start([module(IN_MEMORY)], { port });
  await using near = await start([module(`adapter: {name: bridge, config: {bridge_url: "ws://127.0.0.1:${port}"}}`)]);
  await using here = await RawWorker.connect(near.url);
  await isUp(here, 'svc-stream');
  await here.call('stream::set', { stream_name: 's', group_id: 'g', item_id: 'a', data: 1 });
  await using client = await StreamClient.connect(near.urls[1] ?? '');
  client.join({ subscriptionId: '1', streamName: 's', groupId: 'g' });
  expect(await client.next()).toMatchObject({ event: { type: 'sync', data: [1] } });
  await far[Symbol.asyncDispose]();
  await using _again = await start([module(IN_MEMORY)], { port });
  expect(await client.next()).toMatchObject({ event: { type: 'sync', data: [], recovered: false } });
});
