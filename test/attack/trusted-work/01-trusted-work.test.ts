// A restricted connection registers the function of a trusted worker that is away, to receive its calls and jobs.

import { describe, expect, test } from 'vitest';
import { ask, type HttpEngine, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { deadLettersOf, enqueue, receiptOf, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectPage, leave } from '../restricted-page.ts';

const TYPES = "[state, http, cron, 'durable:subscriber', queue, mine]";

/**
 * An anonymous restricted port, one that grants prefixes, queues, state and routes, all on disk. The address in the
 * configuration identifies a port over restarts.
 */
function startEngine(folder: string, exposed = 'api::*'): Promise<HttpEngine> {
  const rules = `expose_functions: ['match("${exposed}")'], allow_trigger_types: ${TYPES}`;
  return startHttpEngine('', {
    workers: [
      `{name: svc-worker-manager, config: {port: 0, rbac: {${rules}}}}`,
      `{name: svc-worker-manager, config: {host: 127.0.0.2, port: 0, rbac: {auth_function_id: auth, ${rules}}}}`,
      `{name: svc-queue, config: {queue_configs: {default: {max_retries: 0}}, adapter: {name: builtin, config: {file_path: ${folder}}}}}`,
      `{name: svc-state, config: {adapter: {name: kv, config: {file_path: ${folder}}}}}`,
    ],
  });
}

/** Worker ports in the order of the file; the HTTP port comes between them. */
function portsOf(engine: HttpEngine): { readonly anonymous: string; readonly granting: string } {
  const [, anonymous = '', granting = ''] = engine.urls.filter((url) => url.startsWith('ws:'));
  return { anonymous, granting };
}

interface Page extends AsyncDisposable {
  readonly worker: RawWorker;
  readonly ran: unknown[];
}

/** Registers these functions, although the engine may refuse them. */
async function pageWith(url: string, ...ids: readonly string[]): Promise<Page> {
  const worker = await RawWorker.connect(url);
  const ran: unknown[] = [];
  for (const id of ids) await worker.serve(id, (data) => ran.push(data));
  return { worker, ran, [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose]() };
}

const bills = [1, 2, 3, 4, 5];

async function enqueueBills(client: RawWorker, id = 'orders::bill'): Promise<void> {
  for (const bill of bills) await receiptOf(enqueue(client, id, { bill }));
}

describe('five jobs of a trusted client wait for a trusted worker', () => {
  test('a page that registers the function gets none of them, and the worker gets all', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    const biller = await RawWorker.connect(engine.url);
    await biller.register('orders::bill');
    await leave(biller);
    await enqueueBills(client);
    await using thief = await pageWith(portsOf(engine).anonymous, 'orders::bill');
    expect(await thief.worker.next('registrationrejected')).toMatchObject({ function_id: 'orders::bill' });
    await waitFor('the jobs wait', async () => (await statsOf(client)).states.waiting_for_worker === 5);
    const ran: unknown[] = [];
    await using back = await RawWorker.connect(engine.url);
    await back.serve('orders::bill', (data) => ran.push(data));
    await waitFor('all jobs have run', () => ran.length === 5);
    expect(thief.ran).toEqual([]);
    expect(ran).toEqual(bills.map((bill) => ({ bill })));
  });

  test('a page that registered the function first gets none of them', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    await using thief = await pageWith(portsOf(engine).anonymous, 'orders::bill');
    await enqueueBills(client);
    await waitFor('the jobs wait', async () => (await statsOf(client)).states.waiting_for_worker === 5);
    // A live call of a trusted client reaches the function of a page.
    expect(await client.call('orders::bill', { live: true })).not.toHaveProperty('error');
    expect(thief.ran).toEqual([{ live: true }]);
    const ran: unknown[] = [];
    await using back = await RawWorker.connect(engine.url);
    await back.serve('orders::bill', (data) => ran.push(data));
    await waitFor('all jobs have run', () => ran.length === 5);
    expect(thief.ran).toEqual([{ live: true }]);
  });

  test('a page that registers the function after a restart of the engine gets none of them', async () => {
    using folder = new TemporaryFolder();
    {
      await using engine = await startEngine(folder.path);
      await using client = await RawWorker.connect(engine.url);
      await client.register('orders::bill');
      await enqueueBills(client, 'orders::later');
    }
    await using engine = await startEngine(folder.path);
    await using thief = await pageWith(portsOf(engine).anonymous, 'orders::bill', 'orders::later');
    expect(await thief.worker.next('registrationrejected')).toMatchObject({ function_id: 'orders::bill' });
    await using client = await RawWorker.connect(engine.url);
    expect(await client.call('orders::bill', {})).toMatchObject({ error: { code: 'function_not_found' } });
    await waitFor('the jobs wait', async () => (await statsOf(client)).states.waiting_for_worker === 5);
    expect(thief.ran).toEqual([]);
  });

  test('a page whose granted prefix covers the function gets all of them', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    await client.serve('auth', () => ({ context: {}, function_registration_prefix: 'user-1' }));
    await enqueueBills(client, 'user-1::ui::bill');
    const { anonymous, granting } = portsOf(engine);
    await using thief = await pageWith(anonymous, 'user-1::ui::bill');
    await waitFor('the jobs wait', async () => (await statsOf(client)).states.waiting_for_worker === 5);
    await using page = await pageWith(granting, 'ui::bill');
    await waitFor('all jobs have run', () => page.ran.length === 5);
    expect(thief.ran).toEqual([]);
    expect(await thief.worker.next('registrationrejected')).toMatchObject({ function_id: 'user-1::ui::bill' });
  });
});

describe('the work of a trusted trigger', () => {
  test('does not reach a page while the target of a durable state trigger is away', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    const trigger = { trigger_type: 'state', function_id: 'orders::changed', config: { scope: 'orders' } };
    expect(await client.call('engine::register_trigger', trigger)).not.toHaveProperty('error');
    await using thief = await pageWith(portsOf(engine).anonymous, 'orders::changed');
    await client.call('state::set', { scope: 'orders', key: 'a', value: 'secret' });
    await waitFor('the trigger has fired', () => engine.counters.snapshot()['triggers.failed'] === 1);
    expect(thief.ran).toEqual([]);
  });

  test('does not reach a page while the trusted subscriber of a topic is away', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    const subscribe = async (worker: RawWorker): Promise<void> => {
      worker.send({
        type: 'registertrigger',
        id: `sub-${worker.workerId}`,
        trigger_type: 'durable:subscriber',
        function_id: 'orders::mail',
        config: { topic: 'mail' },
      });
      await worker.settled();
    };
    const mailer = await RawWorker.connect(engine.url);
    await subscribe(mailer);
    await leave(mailer);
    await client.call('svc::durable::publish', { topic: 'mail', data: 'secret' });
    await using thief = await pageWith(portsOf(engine).anonymous, 'orders::mail');
    await subscribe(thief.worker);
    expect(await thief.worker.next('triggerregistrationresult')).toHaveProperty('error');
    const ran: unknown[] = [];
    await using back = await RawWorker.connect(engine.url);
    await back.serve('orders::mail', (data) => ran.push(data));
    await subscribe(back);
    await waitFor('the message has run', () => ran.length === 1);
    expect(thief.ran).toEqual([]);
  });
});

describe('a synchronous call', () => {
  test('does not reach a page that registers the function of a worker that is away', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    const worker = await RawWorker.connect(engine.url);
    await worker.register('orders::pay');
    await leave(worker);
    await using thief = await pageWith(portsOf(engine).anonymous, 'orders::pay');
    expect(await client.call('orders::pay', { card: 'secret' })).toMatchObject({
      error: { code: 'function_not_found' },
    });
    expect(thief.ran).toEqual([]);
  });

  test('reaches the function of a page after its reservation is released', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    const worker = await RawWorker.connect(engine.url);
    await worker.register('ui::notify');
    await leave(worker);
    const name = { kind: 'function', name: 'ui::notify' };
    expect(await client.call('engine::reservations::list', { search: 'ui::' })).toMatchObject({
      result: { reservations: [name], total: 1 },
    });
    expect(await client.call('engine::reservations::release', name)).toMatchObject({ result: { success: true } });
    await using page = await pageWith(portsOf(engine).anonymous, 'ui::notify');
    await client.call('ui::notify', 'hello');
    expect(page.ran).toEqual(['hello']);
  });
});

describe('a restricted connection', () => {
  test('cannot register or remove a durable trigger, even if those functions are exposed', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path, 'engine::*');
    await using thief = await pageWith(portsOf(engine).anonymous, 'stolen');
    const trigger = { trigger_type: 'http', function_id: 'engine::health::check', config: { api_path: '/orders' } };
    expect(await thief.worker.call('engine::register_trigger', trigger)).toMatchObject({
      error: { code: 'FORBIDDEN' },
    });
    await using client = await RawWorker.connect(engine.url);
    const { result } = await client.call('engine::register_trigger', trigger);
    const { id } = result as { id: string };
    expect(await thief.worker.call('engine::unregister_trigger', { id })).toMatchObject({
      error: { code: 'FORBIDDEN' },
    });
    expect((await ask(engine, '/orders')).status).not.toBe(404);
  });

  test('and others leave at most a hundred waiting subscriptions of a topic', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    for (const round of [1, 2]) {
      const ids = Array.from({ length: 60 }, (_, place) => `mine-${round}-${place}`);
      const page = await pageWith(portsOf(engine).anonymous, ...ids);
      for (const id of ids) {
        page.worker.send({
          type: 'registertrigger',
          id,
          trigger_type: 'durable:subscriber',
          function_id: id,
          config: { topic: 'mail' },
        });
      }
      await page.worker.settled();
      await leave(page.worker);
    }
    await waitFor('the other subscriptions are removed', () => engine.counters.snapshot()['topics.away_ended'] === 20);
    await client.call('svc::durable::publish', { topic: 'mail', data: 1 });
    await waitFor('the jobs wait', async () => (await statsOf(client, 'mail')).depth === 100);
  });
});

describe('a route of a trusted worker', () => {
  const route = (worker: RawWorker, api_path: string, http_method = 'GET'): Promise<void> => {
    worker.send({
      type: 'registertrigger',
      id: `${http_method} ${api_path} ${worker.workerId}`,
      trigger_type: 'http',
      function_id: 'steal',
      config: { api_path, http_method },
    });
    return worker.settled();
  };

  async function withTrustedRoutes(engine: HttpEngine): Promise<RawWorker> {
    const shop = await RawWorker.connect(engine.url);
    await shop.serve('steal', () => ({ status_code: 200, body: 'shop' }));
    for (const path of ['/orders', '/orders/:id']) await route(shop, path);
    return shop;
  }

  async function thiefWithRoutes(engine: HttpEngine): Promise<Page> {
    const thief = await pageWith(portsOf(engine).anonymous, 'stolen');
    for (const [path, method] of [
      ['/orders', 'GET'],
      ['/orders', 'HEAD'],
      ['/orders', 'OPTIONS'],
      ['/orders/:other', 'GET'],
      ['/orders/42', 'GET'],
      ['/:any', 'GET'],
      ['/metrics', 'GET'],
    ] as const) {
      thief.worker.send({
        type: 'registertrigger',
        id: `${method} ${path}`,
        trigger_type: 'http',
        function_id: 'stolen',
        config: { api_path: path, http_method: method },
      });
    }
    await thief.worker.settled();
    return thief;
  }

  const PATHS = ['/orders', '/orders/42', '/orders/7', '/metrics', '/healthz'];

  async function askAll(engine: HttpEngine): Promise<void> {
    for (const path of PATHS) {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        await ask(engine, path, { method, headers: { authorization: 'Bearer secret' } });
      }
    }
  }

  test('is not displaced by routes of a page, whether equal, more specific, or for HEAD and OPTIONS', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using _shop = await withTrustedRoutes(engine);
    await using thief = await thiefWithRoutes(engine);
    for (const path of ['/orders', '/orders/42']) expect((await ask(engine, path)).text).toBe('"shop"');
    await askAll(engine);
    expect(thief.ran).toEqual([]);
  });

  test('stays reserved while the worker is away, and over a restart of the engine', async () => {
    using folder = new TemporaryFolder();
    {
      await using engine = await startEngine(folder.path);
      await leave(await withTrustedRoutes(engine));
      await using thief = await thiefWithRoutes(engine);
      await askAll(engine);
      expect(thief.ran).toEqual([]);
    }
    await using engine = await startEngine(folder.path);
    await using thief = await thiefWithRoutes(engine);
    await askAll(engine);
    expect(thief.ran).toEqual([]);
    // The page gets requests for a path that no trusted worker ever had.
    await ask(engine, '/elsewhere');
    expect(thief.ran).toHaveLength(1);
  });
});

describe('a trigger type of a trusted worker that is away', () => {
  test('is not provided by a page, which would receive the configuration of its triggers', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    await client.serve('auth', () => ({ context: {}, allow_trigger_type_registration: true }));
    const type = { type: 'registertriggertype', id: 'mine', description: 'watches' };
    const provider = await RawWorker.connect(engine.url);
    provider.send(type);
    await provider.settled();
    await leave(provider);
    client.send({
      type: 'registertrigger',
      id: 't',
      trigger_type: 'mine',
      function_id: 'f',
      config: { key: 'secret' },
    });
    await client.settled();
    await using thief = await RawWorker.connect(portsOf(engine).granting);
    thief.send(type);
    await thief.settled();
    expect(thief.frames.filter(({ type: kind }) => kind === 'registertrigger')).toEqual([]);
  });
});

describe('a durable trigger of a type that no trusted worker has provided', () => {
  test.each([
    ['waits while a page provides the type', {}, 'mine', []],
    ['goes to the page whose prefix covers the type', { function_registration_prefix: 'own' }, 'own::mine', ['f']],
  ])('%s', async (_what, grant, id, sent) => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    await client.serve('auth', () => ({ context: {}, allow_trigger_type_registration: true, ...grant }));
    await using page = await RawWorker.connect(portsOf(engine).granting);
    page.send({ type: 'registertriggertype', id, description: 'watches' });
    await page.settled();
    const bound = { trigger_type: id, function_id: 'f', config: { key: 'secret' } };
    // A provider that receives it has ten seconds to refuse it.
    const call = client.startCall('engine::register_trigger', bound);
    if (sent.length === 0) expect((await client.answerTo(call)).error).toBeUndefined();
    await client.settled();
    // A live trigger is delivered, because pages may provide events.
    client.send({ type: 'registertrigger', id: 'live', ...bound, function_id: 'g' });
    await client.settled();
    await page.settled();
    const frames = page.frames.filter(({ type }) => type === 'registertrigger');
    expect(frames.map(({ function_id }) => function_id)).toEqual([...sent, 'g']);
  });
});

describe('a job that a restricted connection enqueues directly', () => {
  test('runs with the rights of that connection', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startEngine(folder.path);
    await using client = await RawWorker.connect(engine.url);
    await client.serve('auth', () => ({ context: {}, allowed_functions: ['pay'] }));
    await client.call('engine::queue::pause', { queue: 'default' });
    const { anonymous, granting } = portsOf(engine);
    await using granted = await RawWorker.connect(granting);
    await using plain = await RawWorker.connect(anonymous);
    expect(await enqueue(granted, 'pay', 1)).not.toHaveProperty('error');
    expect(await enqueue(plain, 'api::x', 2)).not.toHaveProperty('error');
    expect(await enqueue(plain, 'pay', 3)).toMatchObject({ error: { code: 'FORBIDDEN' } });
    const ran: unknown[] = [];
    for (const id of ['pay', 'api::x']) await client.serve(id, (data) => ran.push(data));
    await client.call('engine::queue::resume', { queue: 'default' });
    await waitFor('both jobs have run', () => ran.length === 2);
    expect(ran).toEqual([1, 2]);
    expect(await deadLettersOf(client)).toEqual([]);
  });

  test('fails when its port no longer allows the function', async () => {
    using folder = new TemporaryFolder();
    {
      await using engine = await startEngine(folder.path);
      await using client = await RawWorker.connect(engine.url);
      await client.call('engine::queue::pause', { queue: 'default' });
      await using page = await connectPage(engine);
      expect(await enqueue(page, 'api::x', 1)).not.toHaveProperty('error');
    }
    await using engine = await startEngine(folder.path, 'other::*');
    await using client = await RawWorker.connect(engine.url);
    const ran: unknown[] = [];
    await client.serve('api::x', (data) => ran.push(data));
    await client.call('engine::queue::resume', { queue: 'default' });
    await waitFor('the job is a dead letter', async () => (await deadLettersOf(client)).length === 1);
    expect(await deadLettersOf(client)).toMatchObject([{ error: expect.stringContaining("'api::x' not allowed") }]);
    expect(ran).toEqual([]);
  });
});
