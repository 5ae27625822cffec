// Engines of one cluster with several router threads each: each of their routers is a member, and to clients and to
// people a process is one engine.

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ClusterStatus } from '../../../src/core/cluster/status.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { clusterYaml } from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { olderSvc } from '../../support/cluster/older-engine.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

/** So many that every router of an engine has some of them. */
const WORKERS = 12;
const HTTP = `
  - name: svc-http
    config: {port: 0}
`;

async function connectAll(url: string): Promise<RawWorker[]> {
  return await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(url)));
}

async function statusOf(worker: RawWorker): Promise<ClusterStatus> {
  return (await worker.call('engine::cluster::status', {})).result as ClusterStatus;
}

interface ListedFunction {
  readonly function_id: string;
  readonly engines?: readonly string[];
}

async function functionsOf(worker: RawWorker): Promise<ListedFunction[]> {
  const { result } = await worker.call('engine::functions::list', {});
  return (result as { functions: ListedFunction[] }).functions;
}

/** Resolves when every one of the workers can call all of these functions. */
async function allReach(workers: readonly RawWorker[], functionIds: readonly string[]): Promise<void> {
  await waitFor('every worker reaches every function', async () => {
    const calls = workers.flatMap((worker) => functionIds.map((id) => worker.call(id, 0)));
    return (await Promise.all(calls)).every(({ error }) => error === undefined);
  });
}

/** Two engines with two routers each, and workers on all four. */
async function startTwo(more: { readonly workers?: string; readonly more?: string } = {}) {
  const nats = await NatsServer.start();
  const options = { nats: nats.url, prefix: `t${randomUUID().slice(0, 8)}`, ...more };
  const start = (): Promise<TestEngine> => startTestEngine({ yaml: clusterYaml(options), threads: 2 });
  const [a, b] = await Promise.all([start(), start()]);
  const [ofA, ofB] = await Promise.all([connectAll(a.url), connectAll(b.url)]);
  const watcher = ofA[0];
  if (watcher === undefined) throw new Error('no worker');
  await waitFor('the engines reach each other', async () =>
    (await statusOf(watcher)).engines.some(({ status, routers }) => status === 'up' && routers === 2),
  );
  return {
    ...{ nats, options, a, b, ofA, ofB, all: [...ofA, ...ofB] },
    async [Symbol.asyncDispose]() {
      await Promise.all([...ofA, ...ofB].map((worker) => worker[Symbol.asyncDispose]()));
      await Promise.all([a[Symbol.asyncDispose](), b[Symbol.asyncDispose]()]);
      await nats[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(NO_NATS_SERVER)('two engines with two routers each', () => {
  test('[CL38] every worker reaches the functions of every other, on whichever router', async () => {
    await using two = await startTwo();
    await Promise.all(two.all.map((worker, at) => worker.serve(`f::${at}`, (data) => ({ at, data }))));
    const ids = two.all.map((_, at) => `f::${at}`);
    await allReach(two.all, ids);
    for (const [from, worker] of two.all.entries()) {
      const answers = await Promise.all(ids.map((id) => worker.call(id, { from })));
      expect(answers.map(({ result }) => result)).toEqual(ids.map((_, at) => ({ at, data: { from } })));
    }
  });

  test('[CL38] are two engines to people, with their routers and each function once', async () => {
    await using two = await startTwo();
    await Promise.all(two.ofB.map((worker, at) => worker.serve(`f::${at}`, () => at)));
    await Promise.all(two.ofB.map((worker) => worker.serve('f::all', () => 0)));
    const [asker] = two.ofA;
    if (asker === undefined) throw new Error('no worker');
    await waitFor('all functions are known', async () => {
      const { engines } = await statusOf(asker);
      return engines.find(({ status }) => status === 'up')?.functions === WORKERS + 1;
    });
    const { engines, trouble } = await statusOf(asker);
    expect(trouble).toBeUndefined();
    expect(engines).toHaveLength(2);
    expect(engines.map(({ routers }) => routers)).toEqual([2, 2]);
    const other = engines.find(({ status }) => status === 'up');
    const listed = (await functionsOf(asker)).filter(({ function_id: id }) => id.startsWith('f::'));
    expect(listed).toHaveLength(WORKERS + 1);
    for (const row of listed) expect(row.engines).toEqual([other?.id]);
  });

  test('[CL38] [CL18] a route of a worker of either router is served by both engines, and listed once', async () => {
    await using two = await startTwo({ workers: HTTP });
    for (const [at, worker] of two.ofB.entries()) {
      await worker.serve(`h::${at}`, () => ({ status_code: 200, body: { at } }));
      const config = { api_path: `/at/${at}`, http_method: 'GET' };
      worker.send({ type: 'registertrigger', id: `t${at}`, trigger_type: 'http', function_id: `h::${at}`, config });
    }
    for (const engine of [two.a, two.b]) {
      const url = engine.urls.find((one) => one.startsWith('http'));
      for (const [at] of two.ofB.entries()) {
        await waitFor('the route is served', async () => (await fetch(`${url}/at/${at}`)).status === 200);
        expect(await (await fetch(`${url}/at/${at}`)).json()).toEqual({ at });
      }
    }
  });

  test('[CL38] [CL27] with newest, every call goes to the worker that registered last, on any of four routers', async () => {
    await using two = await startTwo({ more: 'balance: newest' });
    for (const [at, worker] of [...two.ofA.slice(0, 4), ...two.ofB.slice(0, 4), ...two.ofA.slice(4, 8)].entries()) {
      await worker.serve('f', () => at);
      await waitFor('all calls go there', async () => {
        const answers = await Promise.all(two.all.map((one) => one.call('f', 0)));
        return answers.every(({ result }) => result === at);
      });
    }
  });

  test('[CL38] [CL28] with reject_duplicates, a worker of any other router is refused', async () => {
    await using two = await startTwo({ more: 'balance: reject_duplicates' });
    const [first, ...others] = two.all;
    await first?.serve('f', () => 'first');
    await allReach(two.all, ['f']);
    for (const worker of others) {
      worker.send({ type: 'registerfunction', id: 'f' });
      expect(await worker.next('registrationrejected')).toMatchObject({ function_id: 'f' });
    }
  });
});

describe.skipIf(NO_NATS_SERVER)('an engine with two routers', () => {
  test('[CL38] that is killed takes the functions of both its routers with it', async () => {
    await using nats = await NatsServer.start();
    const yaml = clusterYaml({ nats: nats.url });
    await using stays = await EngineProcess.start(yaml, { threads: 2 });
    await using dies = await EngineProcess.start(yaml, { threads: 2 });
    await using asker = await RawWorker.connect(stays.url);
    const workers = await connectAll(dies.url);
    await Promise.all(workers.map((worker, at) => worker.serve(`f::${at}`, () => at)));
    await allReach(
      [asker],
      workers.map((_, at) => `f::${at}`),
    );
    dies.kill('SIGKILL');
    await waitFor(
      'its functions are gone',
      async () => {
        const isAlone = (await statusOf(asker)).engines.length === 1;
        const left = (await functionsOf(asker)).filter(({ function_id: id }) => id.startsWith('f::'));
        return isAlone && left.length === 0;
      },
      30_000,
    );
    expect(await asker.call('f::0', {})).toMatchObject({ error: { code: 'function_not_found' } });
  });

  test('[CL38] [CL37] and one of the version before reach each other', async () => {
    await using nats = await NatsServer.start();
    const yaml = clusterYaml({ nats: nats.url });
    await using older = await EngineProcess.start(yaml, { svc: olderSvc() });
    await using engine = await EngineProcess.start(yaml, { threads: 2 });
    await using asker = await RawWorker.connect(older.url);
    const workers = await connectAll(engine.url);
    await Promise.all(workers.map((worker, at) => worker.serve(`f::${at}`, () => at)));
    await asker.serve('old', () => 'old');
    await allReach(
      [asker],
      workers.map((_, at) => `f::${at}`),
    );
    await allReach(workers, ['old']);
  });
});
