// Connections of a port with rbac, on whichever routers of the process they are.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

/** So many that every router has some of them. */
const PAGES = 10;
const TYPE = { type: 'registertriggertype', id: 'tide', description: 'Fires at high tide' };

const PORTS = `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - name: svc-worker-manager
    config:
      port: 0
      rbac:
        auth_function_id: auth
        expose_functions: ["match('api::*')", "match('engine::*')"]
        allow_trigger_types: [durable:subscriber, tide, 'engine::workers-available']
  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}
`;

interface Scene extends AsyncDisposable {
  readonly engine: TestEngine;
  readonly backend: RawWorker;
  /** Its functions have the prefix, if there is one. */
  page(prefix?: string): Promise<RawWorker>;
  pages(): Promise<RawWorker[]>;
}

async function openScene(yaml = PORTS): Promise<Scene> {
  const engine = await startTestEngine({ yaml, threads: 2 });
  const backend = await RawWorker.connect(engine.url);
  await backend.serve('auth', (input) => {
    const prefix = Object(input).headers['x-prefix'];
    return { allow_trigger_type_registration: true, ...(prefix && { function_registration_prefix: prefix }) };
  });
  const open: RawWorker[] = [];
  const page = async (prefix?: string): Promise<RawWorker> => {
    const headers = prefix === undefined ? {} : { 'x-prefix': prefix };
    const worker = await RawWorker.connect(engine.urls[1] ?? '', { subprotocols: ['svc.json.v1'], headers });
    open.push(worker);
    return worker;
  };
  return {
    engine,
    backend,
    page,
    pages: () => Promise.all(Array.from({ length: PAGES }, () => page())),
    async [Symbol.asyncDispose]() {
      for (const one of [backend, ...open]) one.close();
      await engine[Symbol.asyncDispose]();
    },
  };
}

function subscribe(worker: RawWorker, id: string, topic: string, function_id: string): Promise<void> {
  worker.send({ type: 'registertrigger', id, trigger_type: 'durable:subscriber', function_id, config: { topic } });
  return worker.settled();
}

async function subscriptionsOf({ backend }: Scene): Promise<string[]> {
  const { result } = await backend.call('engine::registered-triggers::list', { trigger_type: 'durable:subscriber' });
  return Object(result).registered_triggers.map(({ function_id }: { function_id: string }) => function_id);
}

describe('a restricted connection', () => {
  test('[RO2] is accepted by every router', async () => {
    await using scene = await openScene();
    await scene.pages();
    await waitFor('both routers have some', async () => {
      const { result } = await scene.backend.call('engine::health::check', {});
      const { routers } = Object(result).components.router.details;
      return routers.length === 2 && routers.every(({ connections }: { connections: number }) => connections > 1);
    });
  });

  test('[RO17] reaches the functions that its port allows, and no others', async () => {
    await using scene = await openScene();
    const ran: unknown[] = [];
    for (const id of ['api::x', 'pay']) await scene.backend.serve(id, (data) => ran.push([id, data]));
    for (const [at, page] of (await scene.pages()).entries()) {
      expect(await page.call('api::x', at)).not.toHaveProperty('error');
      expect(await page.call('pay', at)).toMatchObject({ error: { code: 'FORBIDDEN' } });
      // For trusted connections alone, whatever the port exposes.
      expect(await page.call('engine::reservations::list', {})).toMatchObject({ error: { code: 'FORBIDDEN' } });
      const { result } = await page.call('engine::functions::list', {});
      const shown = Object(result).functions.map(({ function_id }: { function_id: string }) => function_id);
      expect([shown.includes('api::x'), shown.includes('pay')]).toEqual([true, false]);
      await page.register(`own::${at}`);
      const own = await page.call('engine::workers::info', { worker_id: page.workerId });
      expect(own).toMatchObject({ result: { worker: { id: page.workerId } } });
      const other = { worker_id: scene.backend.workerId };
      expect(await page.call('engine::workers::revoke', other)).toMatchObject({ error: { code: 'FORBIDDEN' } });
    }
    expect(ran).toEqual(Array.from({ length: PAGES }, (_, at) => ['api::x', at]));
  });

  test('[RO17] [X7] has its rights in its jobs and triggers', async () => {
    await using scene = await openScene();
    const ran: unknown[] = [];
    for (const id of ['api::x', 'pay']) await scene.backend.serve(id, (data) => ran.push([id, data]));
    for (const [at, page] of (await scene.pages()).entries()) {
      const action = { type: 'enqueue', queue: 'default' };
      expect(await page.call('api::x', at, { action })).not.toHaveProperty('error');
      expect(await page.call('pay', at, { action })).toMatchObject({ error: { code: 'FORBIDDEN' } });
      await subscribe(page, `t-${at}`, `topic-${at}`, 'pay');
      expect(await page.next('triggerregistrationresult')).toMatchObject({ error: { code: 'FORBIDDEN' } });
      await page.serve(`own::${at}`, (data) => ran.push([`own::${at}`, data]));
      await subscribe(page, `t-${at}`, `topic-${at}`, `own::${at}`);
      await scene.backend.call('svc::durable::publish', { topic: `topic-${at}`, data: at });
    }
    await waitFor('all jobs have run', () => ran.length === 2 * PAGES);
    const wanted = Array.from({ length: PAGES }, (_, at) => [
      ['api::x', at],
      [`own::${at}`, at],
    ]).flat();
    expect(ran.map(String).sort()).toEqual(wanted.map(String).sort());
  });

  test('[RO17] [X12] is revoked from any router', async () => {
    await using scene = await openScene();
    const [pages, others] = [await scene.pages(), await Promise.all([1, 2, 3, 4].map(() => scene.page()))];
    await using client = await RawWorker.connect(scene.engine.url);
    for (const page of pages) {
      const { workerId: worker_id } = page;
      expect(await client.call('engine::workers::revoke', { worker_id })).toMatchObject({ result: { success: true } });
      expect(await page.closed).toMatchObject({ code: 4402 });
    }
    const trusted = await client.call('engine::workers::revoke', { worker_id: scene.backend.workerId });
    expect(trusted).toMatchObject({ error: { code: 'INVALID_ARGUMENTS' } });
    expect(others.every(({ socket }) => socket.readyState === socket.OPEN)).toBe(true);
  });

  test('[RO17] [X9] takes no name that a trusted worker of another router had, until it is released', async () => {
    await using scene = await openScene();
    const workers = await Promise.all([1, 2, 3, 4].map(() => RawWorker.connect(scene.engine.url)));
    const pages = await scene.pages();
    for (const [at, worker] of workers.entries()) {
      const id = `orders::${at}`;
      await worker.register(id);
      worker.close();
      await worker.closed;
      for (const page of pages) {
        page.send({ type: 'registerfunction', id });
        expect(await page.next('registrationrejected')).toMatchObject({ function_id: id });
      }
      await scene.backend.call('engine::reservations::release', { kind: 'function', name: id });
      const [page] = pages.slice(at);
      await page?.serve(id, () => 'mine');
      expect(await scene.backend.call(id, {})).toMatchObject({ result: 'mine' });
    }
  });

  test('[RO17] [X9] keeps the ids of its triggers from connections of all routers, and leaves them when it ends', async () => {
    await using scene = await openScene();
    const [holder, ...others] = await scene.pages();
    if (holder === undefined) throw new Error('there are no pages');
    await holder.register('holder');
    await subscribe(holder, 't', 'orders', 'holder');
    for (const [at, other] of others.entries()) {
      await other.register(`other::${at}`);
      await subscribe(other, 't', 'orders', `other::${at}`);
    }
    expect(await subscriptionsOf(scene)).toEqual(['holder']);
    holder.close();
    await waitFor('one of the others has the id', async () => {
      const [functionId = '', ...more] = await subscriptionsOf(scene);
      return functionId.startsWith('other::') && more.length === 0;
    });
  });

  test('[RO17] leaves the ids of its triggers to its successor on another router, also while others wait', async () => {
    await using scene = await openScene();
    const [olds, successors, others] = [await scene.pages(), await scene.pages(), await scene.pages()];
    for (const [at, old] of olds.entries()) {
      const [successor, other] = [successors[at], others[at]];
      if (successor === undefined || other === undefined) throw new Error('there are as many');
      const [id, functionId] = [`t-${at}`, `own::${at}`];
      await old.register(functionId);
      await subscribe(old, id, 'orders', functionId);
      await other.register(`thief::${at}`);
      await subscribe(other, id, 'orders', `thief::${at}`);
      successor.send({ type: 'reattach', previous_worker_id: old.workerId, reattach_token: old.reattachToken });
      expect(await old.closed).toMatchObject({ code: 4400 });
      await successor.register(functionId);
      await subscribe(successor, id, 'orders', functionId);
      expect((await subscriptionsOf(scene)).filter((one) => one.endsWith(`::${at}`))).toEqual([functionId]);
    }
  });

  test('[RO17] keeps its own names where its prefix gives it others, also when it moves to another router', async () => {
    await using scene = await openScene();
    for (let at = 0; at < PAGES; at++) {
      const old = await scene.page(`user-${at}`);
      await old.register('ui::show');
      const successor = await scene.page(`user-${at}`);
      successor.send({ type: 'reattach', previous_worker_id: old.workerId, reattach_token: old.reattachToken });
      await successor.serve('ui::show', (data) => data);
      expect(await old.closed).toMatchObject({ code: 4400 });
      expect(await scene.backend.call(`user-${at}::ui::show`, at)).toMatchObject({ result: at });
    }
  });

  test('[RO17] provides a trigger type to workers of all routers, until a trusted worker does', async () => {
    await using scene = await openScene();
    const page = await scene.page();
    page.send(TYPE);
    await page.settled();
    const workers = await Promise.all(Array.from({ length: PAGES }, () => RawWorker.connect(scene.engine.url)));
    for (const [at, worker] of workers.entries()) {
      worker.send({ type: 'registertrigger', id: `t-${at}`, trigger_type: 'tide', function_id: 'f', config: {} });
      expect(await page.next('registertrigger')).toMatchObject({ id: `t-${at}` });
    }
    for (const other of await scene.pages()) other.send(TYPE);
    const [provider] = workers.slice(-1);
    provider?.send(TYPE);
    const given = await Promise.all(workers.map(() => provider?.next('registertrigger')));
    expect(given.map((frame) => frame?.id).sort()).toEqual(workers.map((_, at) => `t-${at}`).sort());
    for (const worker of workers) worker.close();
  });
});
