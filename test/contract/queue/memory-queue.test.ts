// The example of docs/contributing/write-an-adapter.md: the adapter passes the contract and runs in the module, and the
// page shows its code as it is.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/effects/clock.ts';
import { plugIn } from '../../../src/modules/plug-in.ts';
import { QUEUE_DEFAULTS } from '../../../src/modules/queue/config.ts';
import { createQueues } from '../../../src/modules/queue/index.ts';
import { EngineInMemory } from '../../support/engine/engine-in-memory.ts';
import { memoryQueues } from './memory-adapter/index.ts';
import { MemoryQueues } from './memory-adapter/memory-queues.ts';
import { queueContract } from './queue-contract.ts';

const ROOT = join(import.meta.dirname, '../../..');

queueContract('memory', {
  create: async () => new MemoryQueues(systemClock, 1_000),
  lacks: ['topics', 'groups', 'sharing', 'localStore', 'idempotencyKeys', 'priorities', 'attemptHistory'],
});

async function startEngine() {
  const engine = new EngineInMemory();
  const context = engine.moduleContext();
  const adapter = memoryQueues.create(context, { name: 'memory', config: { jobs_max: 10 } });
  if (adapter === undefined) throw new Error('The definition built no adapter');
  const orders = { ...QUEUE_DEFAULTS, type: 'fifo' as const, message_group_field: 'id' };
  const config = { queue_configs: { orders }, max_payload_bytes: 1_024, topic_unroutable_ttl_ms: 1_000 };
  const module = createQueues(context, config, adapter);
  plugIn(engine.context, 'svc-queue', module);
  await module.start();
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) {
      engine.advance(10);
      await engine.turn();
    }
  };
  return { adapter, turns, caller: engine.connect({ ownSdk: true }), worker: engine.connect({ ownSdk: true }) };
}

test('The module hands the jobs of the adapter to workers', async () => {
  const { adapter, turns, caller, worker } = await startEngine();
  worker.register('mail');
  caller.invoke('mail', { to: 'ann' }, { action: { type: 'enqueue', queue: 'default' } });
  await turns();
  const call = worker.nextCall();
  expect(call).toMatchObject({ function_id: 'mail', data: { to: 'ann' } });
  expect(await adapter.stats()).toMatchObject([{ queue: 'default', running: 1 }, { queue: 'orders' }]);
  worker.result(call, null);
  await turns();
  expect(await adapter.stats()).toMatchObject([{ running: 0, fresh: 0, dead: 0 }, {}]);
});

test('The module refuses what the adapter lacks by the names of adapter and capability', async () => {
  const { turns, caller, worker } = await startEngine();
  const action = { type: 'enqueue', queue: 'default', idempotency_key: 'k' };
  const keyed = caller.invoke('mail', {}, { action });
  const groups = caller.invoke('engine::queue::groups', { queue: 'orders' });
  const published = caller.invoke('svc::durable::publish', { topic: 't', data: 1 });
  worker.bind('late', 'durable:subscriber', 'mail', { config: { topic: 't' } });
  await turns();
  const noTopics = 'The adapter memory cannot keep the messages of topics: it lacks the capability topics';
  expect([groups, published].map((id) => [caller.errorCodeOf(id), caller.errorMessageOf(id)])).toEqual([
    ['NOT_SUPPORTED', 'The adapter memory cannot list the groups of a queue: it lacks the capability groups'],
    ['NOT_SUPPORTED', noTopics],
  ]);
  const message = 'The adapter memory cannot recognise an idempotency_key: it lacks the capability idempotencyKeys';
  expect(caller.answerTo(keyed).error).toMatchObject({ code: 'enqueue_error', reason: 'NOT_SUPPORTED', message });
  expect(worker.received()).toMatchObject([{ id: 'late', error: { message: expect.stringContaining(noTopics) } }]);
});

test('Every block of code on the page is in the files of the example', () => {
  const page = readFileSync(join(ROOT, 'docs/contributing/write-an-adapter.md'), 'utf8');
  const code = ['index', 'memory-job', 'memory-queues'].map((name) =>
    flat(readFileSync(join(import.meta.dirname, `memory-adapter/${name}.ts`), 'utf8')),
  );
  const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = '']) => flat(block));
  expect(blocks.length).toBeGreaterThan(4);
  expect(blocks.filter((block) => !code.some((file) => file.includes(block)))).toEqual([]);
});

/** Without indentation. */
function flat(text: string): string {
  return text.replace(/^\s+/gm, '');
}
