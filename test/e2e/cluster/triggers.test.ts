// Triggers of a worker that is connected to one engine, and events that happen at another.

import { describe, expect, test } from 'vitest';
import { waitForEngines, waitForFunction, waitForTriggers } from '../../support/cluster/cluster-engines.ts';
import { type ClusterPair, startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { freePort } from '../../support/free-port.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

interface Row {
  readonly id: string;
  readonly last_fired_at?: string;
}

interface HttpPair extends ClusterPair {
  readonly urlA: string;
  readonly urlB: string;
}

const httpEntry = (port: number): string => `  - name: svc-http\n    config: {port: ${port}, host: 127.0.0.1}\n`;

async function startHttpPair(): Promise<HttpPair> {
  const [portA, portB] = [await freePort(), await freePort()];
  const pair = await startClusterPair({ workers: httpEntry(portA) }, { workers: httpEntry(portB) });
  return { ...pair, urlA: `http://127.0.0.1:${portA}`, urlB: `http://127.0.0.1:${portB}` };
}

/** A route of a worker on B, and its status on the port of A. */
async function serveList({ b, urlA }: HttpPair) {
  const worker = connect(b.url);
  worker.registerFunction('shop::list', () => ({ status_code: 200, body: [] }));
  const trigger = worker.registerTrigger({
    type: 'http',
    function_id: 'shop::list',
    config: { api_path: 'orders', http_method: 'GET' },
  });
  const status = async (): Promise<number> => (await fetch(`${urlA}/orders`)).status;
  await waitFor('the route is there', async () => (await status()) === 200);
  return { worker, trigger, status };
}

describe.skipIf(NO_NATS_SERVER)('an HTTP route of a worker that is connected to another engine', () => {
  test('[CL18] answers on the ports of all engines', async () => {
    await using pair = await startHttpPair();
    const worker = connect(pair.b.url);
    worker.registerFunction(
      'shop::order',
      (request: { method: string; path_params: { id: string }; body: unknown }) => ({
        status_code: 201,
        headers: { 'x-shop': 'yes' },
        body: { id: request.path_params.id, sent: request.body },
      }),
    );
    worker.registerTrigger({
      ...{ type: 'http', function_id: 'shop::order' },
      config: { api_path: 'orders/:id', http_method: 'POST' },
    });
    const post = (url: string) =>
      fetch(`${url}/orders/7`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"n":1}' },
      });
    await waitFor('the route is there', async () => (await post(pair.urlA)).status === 201);
    for (const url of [pair.urlA, pair.urlB]) {
      const answer = await post(url);
      expect(answer.status).toBe(201);
      expect(answer.headers.get('x-shop')).toBe('yes');
      expect(await answer.json()).toEqual({ id: '7', sent: { n: 1 } });
    }
  });

  test('[CL18] is listed on every engine with the time of its last request, whichever engine got it', async () => {
    await using pair = await startHttpPair();
    const { worker, status } = await serveList(pair);
    const beforeMs = Date.now();
    expect(await status()).toBe(200);
    const caller = connect(pair.a.url);
    for (const asked of [worker, caller]) {
      const { registered_triggers: rows } = await asked.trigger<unknown, { registered_triggers: Row[] }>(
        'engine::registered-triggers::list',
        {},
      );
      const [row] = rows;
      expect(Date.parse(row?.last_fired_at ?? '')).toBeGreaterThanOrEqual(beforeMs);
      const info = await asked.trigger<unknown, Row>('engine::registered-triggers::info', { id: row?.id });
      expect(info.last_fired_at).toBe(row?.last_fired_at);
    }
  });

  test('[CL18] answers 503 on all engines for a moment after its worker has left, as on one engine', async () => {
    await using pair = await startHttpPair();
    const { worker, status } = await serveList(pair);
    await worker.shutdown();
    await waitFor('the route answers 503', async () => (await status()) === 503);
  });

  test('[CL18] is not found on any engine once its worker has taken it back', async () => {
    await using pair = await startHttpPair();
    const { trigger, status } = await serveList(pair);
    trigger.unregister();
    const statuses: number[] = [];
    await waitFor('the route has ended', async () => statuses.push(await status()) > 0 && statuses.at(-1) !== 200);
    // It was never answered as one whose worker is away.
    expect(statuses.at(-1)).toBe(404);
  });

  test('[CL14] answers 503 while its engine cannot be reached', async () => {
    await using pair = await startHttpPair();
    const { status } = await serveList(pair);
    await pair.nats.stop();
    await waitFor('the engine is out of reach', async () => (await status()) === 503);
    await pair.nats.start();
    await waitFor('the route answers again', async () => (await status()) === 200, 15_000);
  });
});

const EVENTS = { workers: '  - name: svc-pubsub\n' };

describe.skipIf(NO_NATS_SERVER)('an event at one engine', () => {
  test('[CL18] calls the function of a worker of another engine, once', async () => {
    await using pair = await startClusterPair(EVENTS);
    const got: unknown[] = [];
    const worker = connect(pair.b.url);
    worker.registerFunction('mail::send', (event: unknown) => void got.push(event));
    worker.registerTrigger({ type: 'subscribe', function_id: 'mail::send', config: { topic: 'orders' } });
    const publisher = connect(pair.a.url);
    await waitForTriggers(publisher, 1);
    await waitForFunction(publisher, 'mail::send');
    for (let n = 0; n < 20; n++) await publisher.trigger('publish', { topic: 'orders', data: { n } });
    await waitFor('all have arrived', () => got.length >= 20);
    expect(got).toHaveLength(20);
  });

  test('[CL18] calls one of two equal replicas on two engines, whichever engine it happens at', async () => {
    await using pair = await startClusterPair(EVENTS);
    const got: string[] = [];
    for (const url of [pair.a.url, pair.b.url]) {
      const worker = connect(url);
      worker.registerFunction('mail::send', () => void got.push(url));
      worker.registerTrigger({ type: 'subscribe', function_id: 'mail::send', config: { topic: 'orders' } });
    }
    for (const url of [pair.a.url, pair.b.url]) {
      const publisher = connect(url);
      await waitForEngines(publisher, 1);
      await waitForTriggers(publisher, 2);
      got.length = 0;
      for (let n = 0; n < 10; n++) await publisher.trigger('publish', { topic: 'orders', data: { n } });
      await publisher.trigger('mail::send', {});
      await waitFor('all have arrived', () => got.length >= 11);
      // A worker of the engine where it happens gets it.
      expect(got).toEqual(Array.from({ length: 11 }, () => url));
    }
  });

  test('[CL18] a log handler of another engine that logs does not call itself for ever', async () => {
    const logs = { workers: '  - name: svc-observability\n' };
    await using pair = await startClusterPair(logs);
    const seen: string[] = [];
    const worker = connect(pair.b.url);
    worker.registerFunction('logs::watch', async ({ body }: { body: string }) => {
      seen.push(body);
      await worker.trigger('engine::log::info', { message: 'the handler logs' });
    });
    worker.registerTrigger({ type: 'log', function_id: 'logs::watch', config: { level: 'info' } });
    const writer = connect(pair.a.url);
    await waitForFunction(writer, 'logs::watch');
    await waitForTriggers(writer, 1);
    for (let n = 0; n < 10; n++) await writer.trigger('engine::log::info', { message: `hello ${n}` });
    await waitFor(
      'the handler was called for each',
      () => seen.filter((body) => body.startsWith('hello')).length >= 10,
    );
    await writer.trigger('logs::watch', { body: 'last' });
    expect(seen).not.toContain('the handler logs');
  });
});

describe.skipIf(NO_NATS_SERVER)('a schedule', () => {
  test('[CL22] a schedule on both engines runs each tick once', { timeout: 60_000 }, async () => {
    await using pair = await startClusterPair({ workers: '  - name: svc-cron\n' });
    const moments: string[] = [];
    for (const url of [pair.a.url, pair.b.url]) {
      const worker = connect(url);
      worker.registerFunction(
        'clock::tick',
        ({ scheduled_time: at }: { scheduled_time: string }) => void moments.push(at),
      );
      worker.registerTrigger({ type: 'cron', function_id: 'clock::tick', config: { expression: '* * * * * *' } });
    }
    const watcher = connect(pair.a.url);
    await waitForTriggers(watcher, 2);
    await waitFor('ticks have run', () => moments.length >= 5, 20_000);
    expect(new Set(moments).size).toBe(moments.length);
  });
});

describe.skipIf(NO_NATS_SERVER)('a change of state in a shared Redis', () => {
  test('[CL18] calls the function of a worker of another engine, once', async () => {
    const prefix = newKeyPrefix();
    const store = `adapter: {name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${prefix}'}}`;
    await using pair = await startClusterPair({ workers: `  - name: svc-state\n    config: {${store}}\n` });
    const got: unknown[] = [];
    const worker = connect(pair.b.url);
    worker.registerFunction('stock::changed', (event: unknown) => void got.push(event));
    worker.registerTrigger({ type: 'state', function_id: 'stock::changed', config: { scope: 'stock' } });
    const writer = connect(pair.a.url);
    await waitForFunction(writer, 'stock::changed');
    await waitForTriggers(writer, 1);
    for (let n = 0; n < 10; n++) await writer.trigger('state::set', { scope: 'stock', key: 'b', value: n });
    await waitFor('all have arrived', () => got.length >= 10);
    await writer.trigger('stock::changed', 'last');
    expect(got).toHaveLength(11);
    await removeKeys(prefix);
  });

  test('[CL18] [S5] becomes a job that a worker of another engine runs, once for equal replicas', async () => {
    const prefix = newKeyPrefix();
    const store = `adapter: {name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${prefix}'}}`;
    const queue = `  - name: svc-queue\n    config: {queue_configs: {changes: {}}, ${store}}\n`;
    await using pair = await startClusterPair({ workers: `  - name: svc-state\n    config: {${store}}\n${queue}` });
    const got: { new_value: number }[] = [];
    const replicas = [connect(pair.b.url), connect(pair.b.url)];
    for (const worker of replicas) {
      worker.registerFunction('stock::changed', (event: { new_value: number }) => void got.push(event));
      worker.registerTrigger({ type: 'state', function_id: 'stock::changed', config: { queue: 'changes' } });
    }
    const writer = connect(pair.a.url);
    await waitForFunction(writer, 'stock::changed');
    await waitForTriggers(writer, 2);
    for (let n = 0; n < 10; n++) await writer.trigger('state::set', { scope: 'stock', key: 'b', value: n });
    const values = Array.from({ length: 10 }, (_, n) => n);
    const sorted = () => got.map(({ new_value }) => new_value).sort((one, other) => one - other);
    await waitFor('all have arrived', () => got.length >= 10);
    await writer.trigger('stock::changed', { new_value: 10 });
    expect(sorted()).toEqual([...values, 10]);
    await removeKeys(prefix);
  });
});

describe.skipIf(NO_NATS_SERVER)('a change of functions or workers', () => {
  interface FunctionsEvent {
    readonly functions: readonly { readonly function_id: string }[];
  }

  const namesIn = (events: readonly FunctionsEvent[]) =>
    events.map(({ functions }) => functions.map(({ function_id: id }) => id));

  test('[CL18] calls one of two equal replicas on two engines', async () => {
    await using pair = await startClusterPair();
    const seen: FunctionsEvent[] = [];
    const replicas = [connect(pair.a.url), connect(pair.b.url)];
    for (const replica of replicas) {
      replica.registerFunction('watch::functions', (event: FunctionsEvent) => void seen.push(event));
      replica.registerTrigger({ type: 'engine::functions-available', function_id: 'watch::functions', config: {} });
    }
    for (const replica of replicas) await waitForTriggers(replica, 2);
    connect(pair.b.url).registerFunction('late::one', () => 1);
    const late = () => namesIn(seen).filter((names) => names.includes('late::one'));
    await waitFor('the change is reported', () => late().length > 0);
    connect(pair.a.url).registerFunction('late::two', () => 2);
    await waitFor('the next change is reported', () => late().some((names) => names.includes('late::two')));
    expect(late().filter((names) => !names.includes('late::two'))).toHaveLength(1);
  });

  test('[CL18] calls the function of a trigger without an owner once', async () => {
    await using pair = await startClusterPair();
    const [near, far] = [connect(pair.a.url), connect(pair.b.url)];
    const seen: FunctionsEvent[] = [];
    far.registerFunction('watch::functions', (event: FunctionsEvent) => void seen.push(event));
    await waitForFunction(near, 'watch::functions');
    await near.trigger({
      function_id: 'engine::register_trigger',
      payload: { trigger_type: 'engine::functions-available', function_id: 'watch::functions', config: {} },
    });
    for (const worker of [near, far]) await waitForTriggers(worker, 1);
    near.registerFunction('late::one', () => 1);
    const late = () => namesIn(seen).filter((names) => names.includes('late::one'));
    await waitFor('the change is reported', () => late().length > 0);
    far.registerFunction('late::two', () => 2);
    await waitFor('the next change is reported', () => late().some((names) => names.includes('late::two')));
    expect(late().filter((names) => !names.includes('late::two'))).toHaveLength(1);
  });

  test('[CL18] of a worker is reported to the workers of all engines, once', async () => {
    await using pair = await startClusterPair();
    const [near, far] = [connect(pair.a.url), connect(pair.b.url)];
    const seen: unknown[] = [];
    far.registerFunction('watch::workers', (event: unknown) => void seen.push(event));
    far.registerTrigger({ type: 'engine::workers-available', function_id: 'watch::workers', config: {} });
    await waitForTriggers(near, 1);
    seen.length = 0;
    const third = connect(pair.a.url);
    await third.trigger({ function_id: 'engine::health::check', payload: {} });
    const connections = () => seen.filter((event) => (event as { event: string }).event === 'worker_connected');
    await waitFor('it is reported', () => connections().length > 0);
    await near.trigger({ function_id: 'watch::workers', payload: 'last' });
    expect(connections()).toHaveLength(1);
  });
});
