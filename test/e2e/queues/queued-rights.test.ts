// With whose rights jobs run that a trigger made: those of who registered it, who may be gone by then (X7).

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { BROKERS, Broker } from '../../support/stores/brokers.ts';
import { deadLettersOf, enqueue, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const RBAC = `rbac: {expose_functions: ['match("api::*")'], allow_trigger_types: [state, 'durable:subscriber', cron]}`;

/** Behind what has the queues: a port for browsers, state and cron. */
const beside = (place: string, rbac = RBAC): string => `  - name: svc-worker-manager
    config: {port: 0, ${rbac}}
  - name: svc-state
    config: {adapter: {name: kv, config: {${place}}}}
  - name: svc-cron
    config: {adapter: {name: kv, config: {${place}}}}
`;

const builtin = (folder: string, rbac = RBAC): string => `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-queue
    config:
      queue_configs: {default: {max_retries: 0}}
      adapter: {name: builtin, config: {file_path: ${folder}}}
${beside(`file_path: ${folder}`, rbac)}`;

/** The page has a function `pay` of its own, and triggers for that one and for `api::x`, which all pages may call. */
async function pageWith(engine: TestEngine, type: string, config: object): Promise<RawWorker> {
  const page = await RawWorker.connect(engine.urls[1] ?? '');
  await page.register('pay');
  for (const id of ['pay', 'api::x']) {
    page.send({ type: 'registertrigger', id, trigger_type: type, function_id: id, config });
  }
  await page.settled();
  expect(page.frames.filter(({ type }) => type === 'triggerregistrationresult')).toEqual([]);
  return page;
}

async function leave(page: RawWorker): Promise<void> {
  page.socket.terminate();
  await page.closed;
}

/** Somebody who is trusted offers both, under a trigger of the same name. */
async function serveBoth(worker: RawWorker): Promise<string[]> {
  const ran: string[] = [];
  for (const id of ['pay', 'api::x']) await worker.serve(id, () => ran.push(id));
  worker.send({
    type: 'registertrigger',
    id: 'pay',
    trigger_type: 'state',
    function_id: 'pay',
    config: { scope: 'z' },
  });
  await worker.settled();
  return ran;
}

const setQueue = (worker: RawWorker, verb: 'pause' | 'resume') =>
  worker.call(`engine::queue::${verb}`, { queue: 'default' });

async function onlyTheAllowedRan(worker: RawWorker, ran: readonly string[]): Promise<void> {
  await waitFor('one is dead', async () => (await deadLettersOf(worker)).length === 1);
  await waitFor('the other ran', () => ran.length === 1);
  expect(ran).toEqual(['api::x']);
  const [dead] = await deadLettersOf(worker);
  expect(dead).toMatchObject({ reason: 'failed', error: expect.stringContaining("function 'pay' not allowed") });
}

describe('a job of a page that left reaches no more than the page did', () => {
  test.each(['state', 'cron'])('[X7] made by a %s trigger', async (type) => {
    using folder = new TemporaryFolder();
    await using engine = await startTestEngine({ yaml: builtin(folder.path) });
    await using backend = await RawWorker.connect(engine.url);
    await setQueue(backend, 'pause');
    const expression = type === 'cron' ? { expression: '* * * * * *' } : {};
    const page = await pageWith(engine, type, { queue: 'default', ...expression });
    if (type === 'state') await backend.call('state::set', { scope: 's', key: 'k', value: 1 });
    await waitFor('the jobs wait', async () => (await statsOf(backend)).depth >= 2);
    await leave(page);
    const ran = await serveBoth(backend);
    await setQueue(backend, 'resume');
    await waitFor('one is dead', async () => (await deadLettersOf(backend)).length > 0);
    await waitFor('none is left', async () => (await statsOf(backend)).depth === 0);
    expect([...new Set(ran)]).toEqual(['api::x']);
  });

  test('[X7] over a restart', async () => {
    using folder = new TemporaryFolder();
    await leaveJobs(builtin(folder.path));
    await using engine = await startTestEngine({ yaml: builtin(folder.path) });
    await using backend = await RawWorker.connect(engine.url);
    const ran = await serveBoth(backend);
    await setQueue(backend, 'resume');
    await onlyTheAllowedRan(backend, ran);
  });

  test('[X7] [X12] over a restart with a port that allows less', async () => {
    using folder = new TemporaryFolder();
    await leaveJobs(builtin(folder.path));
    const less = RBAC.replace('api::*', 'apis::*');
    await using engine = await startTestEngine({ yaml: builtin(folder.path, less) });
    await using backend = await RawWorker.connect(engine.url);
    const ran = await serveBoth(backend);
    await setQueue(backend, 'resume');
    await waitFor('both are dead', async () => (await deadLettersOf(backend)).length === 2);
    expect(ran).toEqual([]);
  });

  for (const kind of BROKERS) {
    const topic = `rights-${kind.name}`;
    test.skipIf(kind.refusal)(`[X7] published under a topic, kept by ${kind.name} ${kind.refusal ?? ''}`, async () => {
      await using broker = await Broker.behindProxy(kind, [`${topic}\npay`, `${topic}\napi::x`, `${topic}\n`]);
      await using engine = await startTestEngine({ yaml: broker.yaml() + beside('store_method: in_memory') });
      await using backend = await RawWorker.connect(engine.url);
      const queue_config = { maxRetries: 0 };
      const page = await pageWith(engine, 'durable:subscriber', { topic, queue_config });
      await leave(page);
      const ran = await serveBoth(backend);
      await backend.call('svc::durable::publish', { topic, data: 1 });
      await waitFor('the allowed one ran', () => ran.length === 1, 15_000);
      await waitFor('the other is dead', async () => (await statsOf(backend, topic)).dlq_depth === 1, 15_000);
      expect(ran).toEqual(['api::x']);
    });
  }

  for (const kind of BROKERS) {
    test.skipIf(kind.refusal)(
      `[X7] enqueued directly, kept by ${kind.name} over a restart ${kind.refusal ?? ''}`,
      async () => {
        await using broker = await Broker.behindProxy(kind, ['default\trestricted']);
        const yaml = broker.yaml('{default: {max_retries: 0}}') + beside('store_method: in_memory');
        {
          await using engine = await startTestEngine({ yaml });
          await using page = await RawWorker.connect(engine.urls[1] ?? '');
          const { result } = await enqueue(page, 'api::x', 1);
          expect(result).toMatchObject({ messageReceiptId: expect.any(String) });
        }
        await using engine = await startTestEngine({ yaml });
        await using backend = await RawWorker.connect(engine.url);
        const ran: string[] = [];
        await backend.serve('api::x', () => ran.push('api::x'));
        await waitFor('the job ran', () => ran.length === 1, 15_000);
      },
    );
  }

  test('[X7] made by a state trigger, kept by a Redis over a restart', async () => {
    const [, kind] = BROKERS;
    if (kind === undefined) throw new Error('There is no second broker');
    await using broker = await Broker.behindProxy(kind);
    const yaml = broker.yaml('{default: {max_retries: 0}}') + beside('store_method: in_memory');
    await leaveJobs(yaml);
    await using engine = await startTestEngine({ yaml });
    await using backend = await RawWorker.connect(engine.url);
    const ran = await serveBoth(backend);
    await setQueue(backend, 'resume');
    await onlyTheAllowedRan(backend, ran);
  });
});

/** Two of a page, in a queue that is paused, as the engine ends. */
async function leaveJobs(yaml: string): Promise<void> {
  await using engine = await startTestEngine({ yaml });
  await using backend = await RawWorker.connect(engine.url);
  await setQueue(backend, 'pause');
  const page = await pageWith(engine, 'state', { queue: 'default' });
  await backend.call('state::set', { scope: 's', key: 'k', value: 1 });
  await waitFor('the jobs wait', async () => (await statsOf(backend)).depth === 2);
  await leave(page);
}
