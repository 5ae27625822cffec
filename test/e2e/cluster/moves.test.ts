// Workers that know several engines, while one of these engines drains.

import { Agent, get } from 'node:http';
import { describe, expect, test } from 'vitest';
import { Enqueue } from '../../../src/sdk/index.ts';
import {
  waitForEngines,
  waitForFunction,
  waitForNoFunction,
  waitForTriggers,
} from '../../support/cluster/cluster-engines.ts';
import { startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { freePort } from '../../support/free-port.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

/** A handler that runs until the test lets it finish. */
function holdable() {
  let start = (): void => {};
  let finish = (): void => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const handler = async (): Promise<string> => {
    start();
    await finished;
    return 'finished';
  };
  return { handler, started, finish };
}

describe.skipIf(NO_NATS_SERVER)('a worker with the addresses of two engines, when its engine drains', () => {
  test('[CL29] is reached all the time, by callers of the other engine and by those that move, too', async () => {
    await using pair = await startClusterPair();
    const { a, b } = pair;
    connect(`${a.url},${b.url}`).registerFunction('shop::price', () => 7);
    const callers = [connect(b.url), connect(`${a.url},${b.url}`)];
    for (const caller of callers) {
      await waitForFunction(caller, 'shop::price');
      await waitForEngines(caller, 1);
    }
    let isDrained = false;
    const drained = a.drain().then(() => {
      isDrained = true;
    });
    let calls = 0;
    do {
      expect(await Promise.all(callers.map((caller) => caller.trigger('shop::price', {})))).toEqual([7, 7]);
      calls++;
    } while (!isDrained);
    await drained;
    expect(calls).toBeGreaterThan(1);
  });

  test('[CL29] finishes on the old connection what runs there, and is asked on the new one meanwhile', async () => {
    await using pair = await startClusterPair();
    const { a, b } = pair;
    const worker = connect(`${a.url},${b.url}`);
    const held = holdable();
    worker.registerFunction('shop::long', held.handler);
    worker.registerFunction('shop::short', () => 'short');
    const far = connect(b.url);
    const slow = holdable();
    far.registerFunction('far::slow', slow.handler);
    await waitForFunction(far, 'shop::long');
    const near = connect(a.url);
    await waitForFunction(near, 'far::slow');
    const events: string[] = [];
    for (const name of ['disconnected', 'reconnected', 'draining'] as const) worker.on(name, () => events.push(name));
    const long = near.trigger('shop::long', {});
    await held.started;
    const own = worker.trigger('far::slow', {});
    const idBefore = worker.id;
    const drained = a.drain();
    await waitFor('it has moved', () => worker.id !== idBefore);
    expect(await far.trigger('shop::short', {})).toBe('short');
    slow.finish();
    expect(await own).toBe('finished');
    held.finish();
    expect(await long).toBe('finished');
    await drained;
    expect(events).toEqual(['draining', 'reconnected']);
    expect(worker.state_of_connection).toBe('connected');
    await worker.shutdown();
    await waitForNoFunction(far, 'shop::short');
  });

  test('[CL29] stays where it is while the other engine cannot be reached, and returns to the one that is back', async () => {
    await using pair = await startClusterPair();
    const { a, b } = pair;
    await b.drain();
    const worker = connect(`${a.url},${b.url}`);
    worker.registerFunction('shop::price', () => 7);
    await worker.ready();
    const ended = new Promise<void>((resolve) => worker.on('disconnected', () => resolve()));
    await a.drain();
    await ended;
    await expect(worker.trigger({ function_id: 'shop::price', payload: {}, timeout_ms: 50 })).rejects.toMatchObject({
      code: 'TIMEOUT',
    });
    expect(worker.state_of_connection).not.toBe('closed');
  });

  test('[CL29] enqueues jobs until the engine closes its connection', async () => {
    const prefix = newKeyPrefix();
    const queue = `  - {name: svc-queue, config: {adapter: {name: redis, config: {redis_url: '${SHARED_REDIS}', key_prefix: '${prefix}'}}}}\n`;
    try {
      await using pair = await startClusterPair({ workers: queue });
      const worker = connect(pair.a.url);
      const done: number[] = [];
      connect(pair.b.url).registerFunction('jobs::note', ({ n }: { n: number }) => void done.push(n));
      await waitForFunction(worker, 'jobs::note');
      const held = holdable();
      worker.registerFunction('shop::open', held.handler);
      const open = connect(pair.a.url).trigger('shop::open', {});
      await held.started;
      const draining = new Promise<void>((resolve) => worker.on('draining', () => resolve()));
      const drained = pair.a.drain();
      await draining;
      await worker.trigger({ function_id: 'jobs::note', payload: { n: 1 }, action: Enqueue({ queue: 'default' }) });
      await waitFor('the job ran on the other engine', () => done.length === 1);
      held.finish();
      await open;
      await drained;
    } finally {
      await removeKeys(prefix);
    }
  });

  test('[CL29] answers HTTP requests on open connections until its functions are elsewhere', async () => {
    const port = await freePort();
    const workers = `  - {name: svc-http, config: {port: ${port}, host: 127.0.0.1}}\n`;
    await using pair = await startClusterPair({ workers }, {});
    // It knows one engine only, so the function is nowhere else.
    const worker = connect(pair.a.url);
    worker.registerFunction('shop::list', () => ({ status_code: 200, body: [] }));
    worker.registerTrigger({
      type: 'http',
      function_id: 'shop::list',
      config: { api_path: 'list', http_method: 'GET' },
    });
    await waitForEngines(worker, 1);
    await waitForTriggers(worker, 1);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await statusOf(agent, port, '/list')).toBe(200);
    const draining = new Promise<void>((resolve) => worker.on('draining', () => resolve()));
    const drained = pair.a.drain();
    await draining;
    expect(await statusOf(agent, port, '/list')).toBe(200);
    await drained;
    agent.destroy();
  });
});

function statusOf(agent: Agent, port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    request.once('error', reject);
  });
}
