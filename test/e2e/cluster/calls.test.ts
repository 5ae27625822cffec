// Two engines of one cluster: a caller on one, a worker on the other.

import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { statusOf, waitForEngines, waitForFunction, waitForNoFunction } from '../../support/cluster/cluster-engines.ts';
import { startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { consoleCall } from '../../support/telemetry/console-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

describe.skipIf(NO_NATS_SERVER)('a call whose worker is connected to another engine', () => {
  test('[CL7] [CL11] is answered as one of the same engine is, a result and an error alike', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    const worker = connect(pair.b.url);
    worker.registerFunction('far::double', (input: { n: number }) => ({ n: 2 * input.n }));
    worker.registerFunction('far::fail', () => {
      throw new Error('no more');
    });
    await waitForFunction(caller, 'far::fail');
    expect(await caller.trigger('far::double', { n: 21 })).toEqual({ n: 42 });
    await expect(caller.trigger('far::fail', {})).rejects.toMatchObject({
      code: 'invocation_failed',
      message: 'no more',
    });
  });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['texts of every kind', { 'Zürich\n"': ['\u{1F600}', '\u0000', ''] }],
    ['numbers', [0, -0.5, 1e300, 2 ** 53 - 1]],
    ['more than a message of NATS', { text: 'x'.repeat(3_000_000) }],
  ])('[CL7] gets %s unchanged, and its answer too', async (_what, value) => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    connect(pair.b.url).registerFunction('far::echo', (input: unknown) => input ?? null);
    await waitForFunction(caller, 'far::echo');
    expect(await caller.trigger('far::echo', value)).toEqual(value ?? null);
  });

  test('[CL17] has its deadline, its depth, its trace and its baggage', async () => {
    await using pair = await startClusterPair();
    await using caller = await RawWorker.connect(pair.a.url);
    await using worker = await RawWorker.connect(pair.b.url);
    await worker.register('far::look');
    await waitForFunction(connect(pair.a.url), 'far::look');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    caller.send({
      ...{ type: 'invokefunction', invocation_id: randomUUID(), function_id: 'far::look', data: { x: 1 } },
      ...{ traceparent, baggage: 'svc.depth=7,tenant=acme' },
    });
    const call = await worker.next('invokefunction');
    expect(call).toMatchObject({ function_id: 'far::look', data: { x: 1 } });
    expect(String(call.traceparent)).toContain('0af7651916cd43dd8448eb211c80319c');
    expect(String(call.baggage)).toMatch(/svc\.depth=8/);
    expect(String(call.baggage)).toContain('tenant=acme');
  });

  test('[CL11] goes to a worker of the same engine where there is one', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    connect(pair.b.url).registerFunction('both::who', () => 'far');
    await waitForFunction(caller, 'both::who');
    expect(await caller.trigger('both::who', {})).toBe('far');
    const near = connect(pair.a.url);
    near.registerFunction('both::who', () => 'near');
    await waitFor('the call stays', async () => (await caller.trigger('both::who', {})) === 'near');
    for (let count = 0; count < 20; count++) expect(await caller.trigger('both::who', {})).toBe('near');
    await near.shutdown();
    await waitFor(
      'the call goes to the other engine again',
      async () => (await caller.trigger('both::who', {})) === 'far',
    );
  });

  test('[CL7] ends with function_not_found when its last worker has left', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    const worker = connect(pair.b.url);
    worker.registerFunction('far::short', () => 1);
    await waitForFunction(caller, 'far::short');
    await worker.shutdown();
    await waitForNoFunction(caller, 'far::short');
    await expect(caller.trigger('far::short', {})).rejects.toMatchObject({ code: 'function_not_found' });
  });

  test('[CL13] ends with invocation_stopped when the worker that runs it is lost', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    await using worker = await RawWorker.connect(pair.b.url);
    await worker.register('far::hang');
    await waitForFunction(caller, 'far::hang');
    const answer = caller.trigger('far::hang', {});
    await worker.next('invokefunction');
    await worker.close();
    await expect(answer).rejects.toMatchObject({ code: 'invocation_stopped' });
  });

  test('[CL16] is tried on another engine when the first has no place for it, and refused when both have none', async () => {
    await using pair = await startClusterPair({ more: 'limits: {engine: {waiting_calls: 0}}' });
    await using third = await startTestEngine({ yaml: pair.yaml });
    const caller = connect(third.url);
    await waitForEngines(caller, 2);
    const release: (() => void)[] = [];
    for (const url of [pair.a.url, pair.b.url]) {
      const worker = connect(url, { max_in_flight: 1 });
      worker.registerFunction('far::one', () => new Promise<string>((resolve) => release.push(() => resolve('done'))));
      await waitForFunction(connect(url), 'far::one');
    }
    await waitFor('both engines reach it', async () => {
      const { engines } = await statusOf(caller);
      return engines.filter(({ functions }) => functions === 1).length === 2;
    });
    const two = [caller.trigger('far::one', {}), caller.trigger('far::one', {})];
    await waitFor('both workers run one', () => release.length === 2);
    await expect(caller.trigger('far::one', {})).rejects.toMatchObject({ code: 'OVERLOADED' });
    await waitFor('it was tried again', () => third.counters.get('cluster.calls_tried_again') > 0);
    for (const end of release) end();
    expect(await Promise.all(two)).toEqual(['done', 'done']);
  });

  test('[CL17] ends at its deadline', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    connect(pair.b.url).registerFunction('far::slow', () => new Promise(() => {}));
    await waitForFunction(caller, 'far::slow');
    await expect(caller.trigger('far::slow', {}, { timeout_ms: 300 })).rejects.toMatchObject({ code: 'TIMEOUT' });
  });

  test('[CL7] many functions of another engine can be called, and all at the same time', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    const worker = connect(pair.b.url);
    const ids = Array.from({ length: 400 }, (_, index) => `far::${index}`);
    for (const id of ids) worker.registerFunction(id, () => id);
    await Promise.all(ids.slice(-3).map((id) => waitForFunction(caller, id)));
    expect(await Promise.all(ids.map((id) => caller.trigger(id, {})))).toEqual(ids);
  });
});

describe.skipIf(NO_NATS_SERVER)('what an engine reports of its cluster', () => {
  test('[CL19] the engines, with their functions, and which of them it is', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    connect(pair.b.url).registerFunction('far::one', () => 1);
    await waitForEngines(caller, 1);
    await waitForFunction(caller, 'far::one');
    const { engines } = await statusOf(caller);
    expect(engines.map(({ status, functions, address }) => ({ status, functions, address }))).toEqual(
      expect.arrayContaining([
        { status: 'here', functions: 0, address: pair.a.url },
        { status: 'up', functions: 1, address: pair.b.url },
      ]),
    );
  });

  test('[CL19] [WRK-2] [CL30] the console has the engines, and log records of all of them under ids of their own', async () => {
    const httpPort = await freePort();
    const workers = `  - {name: svc-http, config: {port: ${httpPort}, host: 127.0.0.1}}\n`;
    await using pair = await startClusterPair({ workers }, {});
    const [near, far] = [connect(pair.a.url), connect(pair.b.url)];
    await waitForEngines(near, 1);
    const { cluster } = await consoleCall({ httpPort }, 'GET /status');
    expect(cluster?.engines.map(({ status }) => status).sort()).toEqual(['here', 'up']);
    for (const [worker, text] of [
      [near, 'written at A'],
      [far, 'written at B'],
    ] as const) {
      await worker.trigger({ function_id: 'engine::log::info', payload: { message: text } });
    }
    const written = () => consoleCall({ httpPort }, 'POST /logs/search', { body: { q: 'written' } });
    await waitFor('both are listed', async () => (await written()).items.length === 2);
    const { items } = await written();
    const ofB = items.find(({ body }) => body === 'written at B');
    expect(ofB?.id).toMatch(/^\d+@/);
    const around = { id: ofB?.id ?? '', before: 5, after: 5 };
    const { items: neighbours } = await consoleCall({ httpPort }, 'POST /logs/search', { body: { around } });
    expect(neighbours.map(({ id }) => id)).toContain(ofB?.id);
    expect(neighbours.map(({ body }) => body)).not.toContain('written at A');
  });

  test('[CL19] how many workers each engine has; the console counts those of all', async () => {
    const httpPort = await freePort();
    const workers = `  - {name: svc-http, config: {port: ${httpPort}, host: 127.0.0.1}}\n`;
    await using pair = await startClusterPair({ workers }, {});
    const near = connect(pair.a.url);
    connect(pair.b.url);
    connect(pair.b.url).registerFunction('far::one', () => 1);
    await waitForFunction(near, 'far::one');
    const workersOf = async (wanted: string) =>
      (await statusOf(near)).engines.find(({ status }) => status === wanted)?.workers;
    const far = { connected: 2, active: 1 };
    // Further routers of an engine report theirs a little later.
    await waitFor('the other engine says how many', async () => isDeepStrictEqual(await workersOf('up'), far));
    await waitFor('the console counts those of all', async () => {
      const here = await workersOf('here');
      const { counts } = await consoleCall({ httpPort }, 'GET /status');
      const all = { connected: counts.workers, active: counts.workers_active };
      return isDeepStrictEqual(all, { ...far, connected: far.connected + (here?.connected ?? 0) });
    });
  });

  test('[CL7] what a function of another engine takes and answers, also after that changed', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    await using worker = await RawWorker.connect(pair.b.url);
    const row = async () => {
      const { functions } = await caller.trigger('engine::functions::list', { prefix: 'far::' });
      return functions[0];
    };
    const format = { type: 'object', properties: { n: { type: 'number' } } };
    const registration = { type: 'registerfunction', id: 'far::count', description: 'Counts', request_format: format };
    worker.send(registration);
    await waitFor('it is described', async () => (await row())?.description === 'Counts');
    expect(await row()).toMatchObject({ request_format: format });
    const found = await caller.trigger('engine::functions::info', { function_id: 'far::count' });
    expect(found).toMatchObject({ description: 'Counts', request_schema: format });
    const search = await caller.trigger('engine::functions::list', { search: 'counts' });
    expect(search.functions).toMatchObject([{ function_id: 'far::count' }]);
    worker.send({ ...registration, description: 'Counts down' });
    await waitFor('the change is seen', async () => (await row())?.description === 'Counts down');
  });

  test('[CL19] where a function lives', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    connect(pair.b.url).registerFunction('far::one', () => 1);
    await waitForFunction(caller, 'far::one');
    const other = (await statusOf(caller)).engines.find(({ status }) => status === 'up');
    const { functions } = await caller.trigger<unknown, { functions: { function_id: string; engines?: string[] }[] }>({
      function_id: 'engine::functions::list',
    });
    expect(functions.find(({ function_id: id }) => id === 'far::one')?.engines).toEqual([other?.id]);
  });

  test('[CL1] an engine without the setting is alone', async () => {
    await using engine = await startTestEngine();
    expect(await statusOf(connect(engine.url))).toEqual({ engines: [] });
  });
});
