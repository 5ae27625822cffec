// Engines of two versions in one cluster (M10): what landed first, and what this checkout is.

import { afterEach, describe, expect, test } from 'vitest';
import { type ChannelReader, Enqueue, type SvcWorker } from '../../../src/sdk/index.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import {
  clusterYaml,
  waitForEngines,
  waitForFunction,
  waitForTriggers,
} from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { olderSvc } from '../../support/cluster/older-engine.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { freePort } from '../../support/free-port.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const VERSIONS = { older: () => ({ svc: olderSvc() }), newer: () => ({}) } as const;
type Version = keyof typeof VERSIONS;

const connect = sdkWorkers();
const prefixes: string[] = [];

afterEach(async () => {
  for (const prefix of prefixes.splice(0)) await removeKeys(prefix);
});

const modulesOn = (keyPrefix: string, httpPort: number): string => {
  const redis = `redis_url: '${SHARED_REDIS}', key_prefix: '${keyPrefix}'`;
  return `  - {name: svc-http, config: {port: ${httpPort}}}
  - {name: svc-state, config: {adapter: {name: redis, config: {${redis}}}}}
  - {name: svc-queue, config: {queue_configs: {mail: {}}, adapter: {name: redis, config: {${redis}}}}}
`;
};

class Cluster implements AsyncDisposable {
  readonly #nats: NatsServer;
  readonly #keyPrefix = newKeyPrefix();
  readonly #engines: EngineProcess[] = [];

  private constructor(nats: NatsServer) {
    this.#nats = nats;
    prefixes.push(this.#keyPrefix);
  }

  static async start(): Promise<Cluster> {
    return new Cluster(await NatsServer.start());
  }

  async add(version: Version, port = 0): Promise<{ engine: EngineProcess; httpUrl: string }> {
    const httpPort = await freePort();
    const yaml = clusterYaml({ nats: this.#nats.url, workers: modulesOn(this.#keyPrefix, httpPort) });
    const engine = await EngineProcess.start(yaml.replace('port: 0', `port: ${port}`), VERSIONS[version]());
    this.#engines.push(engine);
    return { engine, httpUrl: `http://127.0.0.1:${httpPort}` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#engines.map((engine) => engine[Symbol.asyncDispose]()));
    await this.#nats[Symbol.asyncDispose]();
  }
}

async function serveAll(worker: SvcWorker): Promise<{ changes: unknown[]; jobs: unknown[] }> {
  const seen: { changes: unknown[]; jobs: unknown[] } = { changes: [], jobs: [] };
  worker.registerFunction('far::add', { description: 'Adds' }, ({ a, b }: { a: number; b: number }) => a + b);
  worker.registerFunction('far::count', async ({ from }: { from: ChannelReader }) => (await from.readAll()).length);
  worker.registerFunction('far::page', () => ({ status_code: 200, body: { from: 'far' } }));
  worker.registerFunction('far::changed', (change: { new_value: unknown }) => void seen.changes.push(change.new_value));
  worker.registerFunction('far::job', (job: unknown) => void seen.jobs.push(job));
  worker.registerTrigger({ type: 'http', function_id: 'far::page', config: { api_path: '/far', http_method: 'GET' } });
  await worker.registerTrigger({ type: 'state', function_id: 'far::changed', config: { scope: 'orders' } }).ready();
  return seen;
}

describe.skipIf(NO_NATS_SERVER)('engines of two versions', () => {
  test.each<[string, Version, Version]>([
    ['the caller on the newer one', 'older', 'newer'],
    ['the caller on the older one', 'newer', 'older'],
  ])(
    '[M10] [CL37] share functions, routes, state, jobs and channels: %s',
    async (_who, ofWorker, ofCaller) => {
      await using cluster = await Cluster.start();
      const [far, near] = [await cluster.add(ofWorker), await cluster.add(ofCaller)];
      const [worker, caller] = [connect(far.engine.url), connect(near.engine.url)];
      const seen = await serveAll(worker);
      await waitForEngines(caller, 1);
      await waitForFunction(caller, 'far::job');
      await waitForTriggers(caller, 2);
      expect(await caller.trigger('far::add', { a: 1, b: 2 })).toBe(3);
      expect(await (await fetch(`${near.httpUrl}/far`)).json()).toEqual({ from: 'far' });
      await caller.trigger('state::set', { scope: 'orders', key: 'a', value: { n: 1 } });
      await caller.trigger({ function_id: 'far::job', payload: { n: 2 }, action: Enqueue({ queue: 'mail' }) });
      await waitFor('the change and the job are there', () => seen.changes.length + seen.jobs.length === 2);
      expect(seen).toEqual({ changes: [{ n: 1 }], jobs: [{ n: 2 }] });
      const { writer, reader } = await caller.createChannel();
      const counted = caller.trigger('far::count', { from: reader });
      await writer.write(new Uint8Array(300_000));
      await writer.close();
      expect(await counted).toBe(300_000);
    },
    60_000,
  );

  test('[M10] [CL37] a worker of the newer one refuses a trigger of the older one, which has no word for it, and calls continue', async () => {
    await using cluster = await Cluster.start();
    const [older, newer] = [await cluster.add('older'), await cluster.add('newer')];
    const provider = await RawWorker.connect(newer.engine.url);
    provider.send({ type: 'registertriggertype', id: 'tide', description: 'Fires at high tide' });
    await provider.settled();
    const sailor = await RawWorker.connect(older.engine.url);
    await sailor.serve('boats::sail', () => 'sailed');
    sailor.send({ type: 'registertrigger', id: 't1', trigger_type: 'tide', function_id: 'boats::sail', config: {} });
    const bound = await provider.next('registertrigger');
    const error = { code: 'no_tide', message: 'There is no tide here' };
    provider.send({ type: 'triggerregistrationresult', id: bound.id, trigger_type: 'tide', error });
    await provider.settled();
    expect((await provider.call('boats::sail', {})).result).toBe('sailed');
    expect((await sailor.call('engine::triggers::list', {})).error).toBeUndefined();
    sailor.close();
    expect(newer.engine.stderr).not.toMatch(/ERROR/);
    expect(older.engine.stderr).not.toMatch(/ERROR/);
    provider.close();
  }, 60_000);

  test('[M10] [CL37] one after the other is replaced by a newer one: no call fails, and each job runs', async () => {
    await using cluster = await Cluster.start();
    const ports = [await freePort(), await freePort()];
    const engines = [];
    for (const port of ports) engines.push((await cluster.add('older', port)).engine);
    const urls = ports.map((port) => `ws://127.0.0.1:${port}`).join();
    const [worker, caller] = [connect(urls), connect(urls)];
    const jobs = new Set<number>();
    worker.registerFunction('demo::hello', () => 'hello');
    worker.registerFunction('demo::job', (n: number) => void jobs.add(n));
    await waitForFunction(caller, 'demo::job');
    let isStopped = false;
    let calls = 0;
    const calling = (async () => {
      for (; !isStopped; calls++) {
        expect(await caller.trigger('demo::hello', {})).toBe('hello');
        await caller.trigger({ function_id: 'demo::job', payload: calls, action: Enqueue({ queue: 'mail' }) });
      }
    })();
    calling.catch(() => {});
    for (const [index, port] of ports.entries()) {
      await waitForEngines(caller, 1);
      engines[index]?.kill('SIGTERM');
      expect(await engines[index]?.ended).toMatchObject({ code: 0 });
      await cluster.add('newer', port);
    }
    await waitForEngines(caller, 1);
    isStopped = true;
    await calling;
    await waitFor('all jobs have run', () => jobs.size === calls, 60_000);
    expect(calls).toBeGreaterThan(10);
  }, 90_000);
});
