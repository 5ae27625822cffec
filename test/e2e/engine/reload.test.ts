// Reloads of a running engine: settings that change, and settings that need a new start.

import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { enqueue, receiptOf, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const MEMORY = '{store_method: in_memory}';

interface Wanted {
  readonly queues?: string;
  readonly queueRest?: string;
  readonly http?: string;
  readonly port?: number;
  readonly hasQueues?: boolean;
}

function configOf({ queues = '{}', queueRest = '', http = '', port = 0, hasQueues = true }: Wanted = {}): string {
  const queueModule = `  - name: svc-queue
    config: {queue_configs: ${queues}${queueRest}, adapter: {name: builtin, config: ${MEMORY}}}
`;
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-http, config: {port: ${port}${http === '' ? '' : `, ${http}`}}}
  - {name: svc-state, config: {adapter: {name: kv, config: ${MEMORY}}}}
${hasQueues ? queueModule : ''}`;
}

const folder = new TemporaryFolder();
const file = join(folder.path, 'svc-config.yaml');
let engine: TestEngine;
let httpPort = 0;

beforeAll(async () => {
  writeFileSync(file, configOf());
  engine = await startTestEngine({ configFile: file });
  httpPort = Number(new URL(engine.urls.find((url) => url.startsWith('http:')) ?? '').port);
});
afterEach(() => reload());
afterAll(async () => {
  await engine?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function reload(wanted: Wanted = {}): Promise<readonly string[]> {
  writeFileSync(file, configOf(wanted));
  const report = await engine.reload();
  if (!report.ok) throw new Error(report.problems.join('\n'));
  return report.changes;
}

async function bind(worker: RawWorker, type: string, functionId: string, config: object): Promise<void> {
  worker.send({ type: 'registertrigger', id: functionId, trigger_type: type, function_id: functionId, config });
  await worker.settled();
}

describe('a reload of queues', () => {
  test('[K1] adds, changes and removes a queue', async () => {
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('mail::send');
    expect((await enqueue(worker, 'mail::send', 1, { queue: 'mail' })).error).toMatchObject({
      reason: 'QUEUE_NOT_FOUND',
    });
    expect(await reload({ queues: '{mail: {concurrency: 1}}' })).toEqual(["svc-queue changed: queue 'mail' added"]);
    await receiptOf(enqueue(worker, 'mail::send', 1, { queue: 'mail' }));
    await receiptOf(enqueue(worker, 'mail::send', 2, { queue: 'mail' }));
    const first = await worker.next('invokefunction');
    // The second job waits for the first until two may run.
    expect(await reload({ queues: '{mail: {concurrency: 2}}' })).toEqual(["svc-queue changed: queue 'mail' changed"]);
    const second = await worker.next('invokefunction');
    for (const call of [first, second]) worker.answer(call, { result: null });
    await waitFor('both are done', async () => (await statsOf(worker, 'mail')).depth === 0);
    expect(await reload()).toEqual(["svc-queue changed: queue 'mail' removed"]);
    expect((await enqueue(worker, 'mail::send', 3, { queue: 'mail' })).error).toMatchObject({
      reason: 'QUEUE_NOT_FOUND',
    });
  });

  test('[K4] logs the jobs of a removed queue, and runs them when the queue is added again', async () => {
    await using worker = await RawWorker.connect(engine.url);
    await reload({ queues: '{kept: {}}' });
    const receipt = await receiptOf(enqueue(worker, 'kept::run', { n: 1 }, { queue: 'kept' }));
    await waitFor(
      'the job waits for its function',
      async () => (await statsOf(worker, 'kept')).states.waiting_for_worker === 1,
    );
    expect(await reload()).toEqual(["svc-queue changed: queue 'kept' removed; it keeps 1 job and 0 dead letters"]);
    expect(engine.log.join('\n')).toContain('A queue that is no longer configured keeps its jobs');
    await worker.register('kept::run');
    await reload({ queues: '{kept: {}}' });
    const call = await worker.next('invokefunction');
    expect(call).toMatchObject({ data: { n: 1 }, metadata: { messageReceiptId: receipt } });
    worker.answer(call, { result: null });
    await waitFor('the job is done', async () => (await statsOf(worker, 'kept')).depth === 0);
  });

  test('[Q8] runs a job once although its queue is removed and added while it runs', async () => {
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('slow::run');
    await reload({ queues: '{slow: {}}' });
    await receiptOf(enqueue(worker, 'slow::run', {}, { queue: 'slow' }));
    const call = await worker.next('invokefunction');
    await reload();
    await reload({ queues: '{slow: {}}' });
    worker.answer(call, { result: null });
    await waitFor('the job is done', async () => (await statsOf(worker, 'slow')).depth === 0);
    await receiptOf(enqueue(worker, 'slow::run', { last: true }, { queue: 'slow' }));
    expect(await worker.next('invokefunction')).toMatchObject({ data: { last: true } });
  });

  test('[S5] delivers the jobs of a trigger whose queue was removed when the queue is added again', async () => {
    await using worker = await RawWorker.connect(engine.url);
    await reload({ queues: '{audit: {}}' });
    await worker.register('audit::note');
    await bind(worker, 'state', 'audit::note', { scope: 'reload', queue: 'audit' });
    await reload();
    await worker.call('state::set', { scope: 'reload', key: 'a', value: 1 });
    await reload({ queues: '{audit: {}}' });
    const call = await worker.next('invokefunction');
    expect(call.data).toMatchObject({ scope: 'reload', key: 'a' });
    worker.answer(call, { result: null });
  });

  test('[S5] [F3] keeps the order of the jobs of a trigger whose fifo queue was removed and added again', async () => {
    await using worker = await RawWorker.connect(engine.url);
    const queues = '{line: {type: fifo, message_group_field: scope}}';
    const set = (value: number) => worker.call('state::set', { scope: 'line', key: 'a', value });
    await reload({ queues });
    const seen: unknown[] = [];
    await worker.serve('line::note', (data) => seen.push((data as { new_value: unknown }).new_value));
    await bind(worker, 'state', 'line::note', { scope: 'line', queue: 'line' });
    await reload();
    for (let value = 0; value < 300; value++) await set(value);
    const back = reload({ queues });
    for (let value = 300; value < 500; value++) await set(value);
    await back;
    await waitFor('all have run', () => seen.length === 500, 15_000);
    expect(seen).toEqual(Array.from({ length: 500 }, (_, value) => value));
  });

  test('[K1] [S5] refuses a group field that the events of a trigger of that queue do not have', async () => {
    await using worker = await RawWorker.connect(engine.url);
    const by = (field: string) => ({ queues: `{grouped: {type: fifo, message_group_field: ${field}}}` });
    const set = () => worker.call('state::set', { scope: 'grouped', key: 'a', value: 1 });
    await reload(by('key'));
    await bind(worker, 'state', 'grouped::note', { scope: 'grouped', queue: 'grouped' });
    await expect(reload(by('order_id'))).rejects.toThrow(
      "queue_configs.grouped.message_group_field is invalid: a trigger of state names it. Queue 'grouped' groups by",
    );
    expect((await set()).error).toBeUndefined();
    expect(await reload(by('scope'))).toEqual(["svc-queue changed: queue 'grouped' changed"]);
    expect((await set()).error).toBeUndefined();
  });

  test('[K1] removes the queue module, and adds it again', async () => {
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('back::run');
    await reload({ hasQueues: false });
    expect((await enqueue(worker, 'back::run', 1)).error).toMatchObject({
      reason: 'QUEUE_NOT_FOUND',
      message: expect.stringContaining('no queue module is loaded'),
    });
    await reload();
    await receiptOf(enqueue(worker, 'back::run', 2));
    expect(await worker.next('invokefunction')).toMatchObject({ data: 2 });
  });

  test.each([
    ['the type of a queue', { queues: '{f: {type: fifo, message_group_field: g}}' }, 'queue_configs.f.type'],
    ['a limit of all queues', { queues: '{f: {}}', queueRest: ', max_payload_bytes: 5' }, 'max_payload_bytes'],
  ])('[K4] [K1] refuses to change %s, names it, and changes nothing else', async (_what, wanted, name) => {
    await using worker = await RawWorker.connect(engine.url);
    await reload({ queues: '{f: {}}' });
    await expect(reload({ ...wanted, http: 'body_limit: 7' })).rejects.toThrow(
      `svc-queue: ${name} can only change with a new start of the engine`,
    );
    await receiptOf(enqueue(worker, 'absent', { longer: 'than 5' }, { queue: 'f' }));
    expect((await ask({ httpPort }, '/', { method: 'POST', body: 'longer than 7' })).status).toBe(404);
  });
});

describe('a reload of HTTP', () => {
  test('[K1] applies origins, size limits and timeouts to the next request', async () => {
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('shop::order');
    await bind(worker, 'http', 'shop::order', { api_path: '/orders', http_method: 'POST' });
    const headers = { origin: 'https://shop.example', 'content-type': 'application/json' };
    const order = (body: string) => ask({ httpPort }, '/orders', { method: 'POST', headers, body });
    expect((await order('{}')).status).toBe(403);
    const cors = 'cors: {allowed_origins: ["https://shop.example"]}';
    await reload({ http: `${cors}, body_limit: 4, default_timeout: 50, request_id_header: x-order` });
    const tooLarge = await order('{"n": 1}');
    expect(tooLarge.status).toBe(413);
    expect(tooLarge.headers['access-control-allow-origin']).toBe('https://shop.example');
    expect(tooLarge.headers['x-order']).toMatch(/^[\da-f]{32}$/);
    expect((await order('{}')).status).toBe(504);
    await reload();
    expect((await order('{}')).status).toBe(403);
  });

  test('[K1] refuses to change the port, and names it', async () => {
    await expect(reload({ port: 1 })).rejects.toThrow('svc-http: port can only change with a new start of the engine');
  });
});

describe('a reload of a restricted port', () => {
  const portOf = (config: string) => `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, ${config}}}
`;

  test('[K1] [X12] applies the new policy at once, and closes connections of another auth function', async () => {
    using own = new TemporaryFolder();
    const configFile = join(own.path, 'svc-config.yaml');
    const write = (rbac: string, rest = '') => writeFileSync(configFile, portOf(`${rest}rbac: {${rbac}}`));
    write('auth_function_id: auth, expose_functions: [\'match("old::*")\']');
    await using guarded = await startTestEngine({ configFile });
    await using backend = await RawWorker.connect(guarded.url);
    for (const id of ['auth', 'gate']) await backend.serve(id, () => ({ context: {} }));
    for (const id of ['old::x', 'new::x']) await backend.serve(id, () => id);
    await using page = await RawWorker.connect(guarded.urls[1] ?? '');
    expect((await page.call('new::x')).error).toMatchObject({ code: 'FORBIDDEN' });

    write('auth_function_id: auth, expose_functions: [\'match("new::*")\']');
    const changes = ['svc-worker-manager changed: rbac.expose_functions'];
    expect(await guarded.reload()).toEqual({ ok: true, changes });
    expect((await page.call('new::x')).result).toBe('new::x');
    expect((await page.call('old::x')).error).toMatchObject({ code: 'FORBIDDEN' });

    write('auth_function_id: gate, expose_functions: [\'match("new::*")\']');
    expect(await guarded.reload()).toMatchObject({ ok: true });
    expect(await page.closed).toMatchObject({ code: 4402 });
    await using again = await RawWorker.connect(guarded.urls[1] ?? '');
    expect((await again.call('new::x')).result).toBe('new::x');

    write('auth_function_id: gate', 'host: "::1", ');
    const problems = ['svc-worker-manager: host can only change with a new start of the engine'];
    expect(await guarded.reload()).toEqual({ ok: false, problems });
  });
});

test('[K1] [X22] a configuration that the engine changes keeps its mode and its symbolic link', async () => {
  using own = new TemporaryFolder();
  const [configFile, secret] = [join(own.path, 'svc-config.yaml'), join(own.path, 'secret.yaml')];
  writeFileSync(secret, 'drain_timeout_ms: 100\nworkers:\n  - {name: svc-worker-manager, config: {port: 0}}\n');
  chmodSync(secret, 0o600);
  symlinkSync(secret, configFile);
  await using running = await startTestEngine({ configFile });
  await using worker = await RawWorker.connect(running.url);
  const added = await worker.call('worker::add', { source: { kind: 'builtin', name: 'svc-pubsub' } });
  expect(added.result).toMatchObject({ added: true });
  expect(readFileSync(secret, 'utf8')).toContain('svc-pubsub');
  expect(lstatSync(configFile).isSymbolicLink()).toBe(true);
  expect(statSync(secret).mode & 0o777).toBe(0o600);
});

describe('a configuration that becomes invalid while the engine runs', () => {
  const callAdd = (worker: RawWorker) =>
    worker.call('worker::add', { source: { kind: 'builtin', name: 'svc-pubsub' } });
  const healthOf = async (worker: RawWorker) => JSON.stringify(await worker.call('engine::health::check', {}));

  test.each([
    ['not YAML', (text: string) => `${text}  - [\n`, 'svc-config.yaml'],
    ['invalid', (text: string) => `${text}  - {name: svc-stat}\n`, "Unknown module 'svc-stat'"],
    ['valid only for a new start', (text: string) => `threads: 7\n${text}`, 'threads can only change with a new start'],
  ])(
    '[K1] because it is %s is not changed by worker::add, and health names the problem',
    async (_what, breakIt, problem) => {
      await using worker = await RawWorker.connect(engine.url);
      const text = breakIt(configOf());
      writeFileSync(file, text);
      await engine.reload();
      expect(await healthOf(worker)).toContain(problem);
      expect(JSON.stringify(await callAdd(worker))).toContain(problem);
      expect(readFileSync(file, 'utf8')).toBe(text);
      expect(await healthOf(worker)).toContain(problem);
    },
  );
});
