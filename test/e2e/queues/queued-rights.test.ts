// The rights of jobs that a trigger makes: those of the connection that registered it, also after it has left (X7).

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { BROKERS, Broker } from '../../support/stores/brokers.ts';
import { deadLettersOf, enqueue, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const RBAC = `rbac: {expose_functions: ['match("api::*")'], allow_trigger_types: [state, 'durable:subscriber', cron]}`;

/** The modules next to the queues: a restricted port, state and cron. */
const otherModules = (place: string, rbac = RBAC): string => `  - name: svc-worker-manager
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
${otherModules(`file_path: ${folder}`, rbac)}`;

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

/** A trusted worker registers both functions, and a trigger of the same id. */
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
  await waitFor('one job is a dead letter', async () => (await deadLettersOf(worker)).length === 1);
  await waitFor('the other job has run', () => ran.length === 1);
  expect(ran).toEqual(['api::x']);
  const [dead] = await deadLettersOf(worker);
  expect(dead).toMatchObject({ reason: 'failed', error: expect.stringContaining("function 'pay' not allowed") });
}

describe('a job of a page that has left runs with the rights of the page', () => {
  test.each(['state', 'cron'])('[X7] when a %s trigger made it', async (type) => {
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
    await waitFor('one job is a dead letter', async () => (await deadLettersOf(backend)).length > 0);
    await waitFor('none is left', async () => (await statsOf(backend)).depth === 0);
    expect([...new Set(ran)]).toEqual(['api::x']);
  });

  test('[X7] after a restart', async () => {
    using folder = new TemporaryFolder();
    await leaveJobs(builtin(folder.path));
    await using engine = await startTestEngine({ yaml: builtin(folder.path) });
    await using backend = await RawWorker.connect(engine.url);
    const ran = await serveBoth(backend);
    await setQueue(backend, 'resume');
    await onlyTheAllowedRan(backend, ran);
  });

  test('[X7] [X12] after a restart with a port that allows less', async () => {
    using folder = new TemporaryFolder();
    await leaveJobs(builtin(folder.path));
    const less = RBAC.replace('api::*', 'apis::*');
    await using engine = await startTestEngine({ yaml: builtin(folder.path, less) });
    await using backend = await RawWorker.connect(engine.url);
    const ran = await serveBoth(backend);
    await setQueue(backend, 'resume');
    await waitFor('both jobs are dead letters', async () => (await deadLettersOf(backend)).length === 2);
    expect(ran).toEqual([]);
  });

  for (const kind of BROKERS) {
    const topic = `rights-${kind.name}`;
    test.skipIf(kind.refusal)(
      `[X7] when it was published to a topic in ${kind.name} ${kind.refusal ?? ''}`,
      async () => {
        await using broker = await Broker.behindProxy(kind, [`${topic}\npay`, `${topic}\napi::x`, `${topic}\n`]);
        await using engine = await startTestEngine({ yaml: broker.yaml() + otherModules('store_method: in_memory') });
        await using backend = await RawWorker.connect(engine.url);
        const queue_config = { maxRetries: 0 };
        const page = await pageWith(engine, 'durable:subscriber', { topic, queue_config });
        await leave(page);
        const ran = await serveBoth(backend);
        await backend.call('svc::durable::publish', { topic, data: 1 });
        await waitFor('the allowed job has run', () => ran.length === 1, 15_000);
        await waitFor(
          'the other job is a dead letter',
          async () => (await statsOf(backend, topic)).dlq_depth === 1,
          15_000,
        );
        expect(ran).toEqual(['api::x']);
      },
    );
  }

  for (const kind of BROKERS) {
    test.skipIf(kind.refusal)(
      `[X7] when it was enqueued directly in ${kind.name}, after a restart ${kind.refusal ?? ''}`,
      async () => {
        await using broker = await Broker.behindProxy(kind, ['default\trestricted']);
        const yaml = broker.yaml('{default: {max_retries: 0}}') + otherModules('store_method: in_memory');
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

  test('[X7] when a state trigger made it in a Redis, after a restart', async () => {
    const [, kind] = BROKERS;
    if (kind === undefined) throw new Error('There is no second broker');
    await using broker = await Broker.behindProxy(kind);
    const yaml = broker.yaml('{default: {max_retries: 0}}') + otherModules('store_method: in_memory');
    await leaveJobs(yaml);
    await using engine = await startTestEngine({ yaml });
    await using backend = await RawWorker.connect(engine.url);
    const ran = await serveBoth(backend);
    await setQueue(backend, 'resume');
    await onlyTheAllowedRan(backend, ran);
  });
});

/** Leaves two jobs of a page in a paused queue and ends the engine. */
async function leaveJobs(yaml: string): Promise<void> {
  await using engine = await startTestEngine({ yaml });
  await using backend = await RawWorker.connect(engine.url);
  await setQueue(backend, 'pause');
  const page = await pageWith(engine, 'state', { queue: 'default' });
  await backend.call('state::set', { scope: 's', key: 'k', value: 1 });
  await waitFor('the jobs wait', async () => (await statsOf(backend)).depth === 2);
  await leave(page);
}
