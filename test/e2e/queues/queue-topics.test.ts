// Durable publish and subscribe: each subscribed function gets its copy, also when it was away.

import { expect, test } from 'vitest';
import { systemClock } from '../../../src/effects/clock.ts';
import { builtinAdapter } from '../../../src/modules/queue/adapters/builtin.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { directory, openTestStore } from '../../support/engine/running-store.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { deadLettersOf, queueYaml, startQueueEngine, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

async function subscribe(worker: RawWorker, functionId: string, config: object, type = 'durable:subscriber') {
  const seen: unknown[] = [];
  await worker.serve(functionId, (data) => seen.push(data));
  const id = `${functionId}-${type}`;
  worker.send({ type: 'registertrigger', id, trigger_type: type, function_id: functionId, config });
  await worker.settled();
  return seen;
}

interface Listed {
  readonly registered_triggers: readonly { readonly last_fired_at?: string }[];
}

const publish = (worker: RawWorker, topic: string, data: unknown, id = 'svc::durable::publish') =>
  worker.call(id, { topic, data });

test('[modules 6.5] Each subscribed function gets its own copy, which is retried when it fails', async () => {
  await using engine = await startQueueEngine();
  await using worker = await RawWorker.connect(engine.url);
  const one = await subscribe(worker, 'one', { topic: 'orders' });
  const other = await subscribe(worker, 'other', { queue: 'orders', queue_config: { type: 'fifo' } }, 'queue');
  let calls = 0;
  await worker.serve('flaky', () => {
    if (++calls === 1) throw new Error('not yet');
  });
  const config = { topic: 'orders', queue_config: { backoffDelayMs: 1, maxRetries: 1 } };
  worker.send({ type: 'registertrigger', id: 'f', trigger_type: 'queue', function_id: 'flaky', config });
  expect((await publish(worker, 'orders', { id: 7 })).result).toBeNull();
  expect((await publish(worker, 'orders', { id: 8 }, 'enqueue')).result).toBeNull();
  await waitFor('all copies have run', () => one.length === 2 && other.length === 2 && calls === 3);
  expect(other).toEqual([{ id: 7 }, { id: 8 }]);
  const listed = (await worker.call('engine::registered-triggers::list', {})).result as Listed;
  expect(listed.registered_triggers.map(({ last_fired_at: at }) => typeof at)).toEqual(['string', 'string', 'string']);
  expect((await publish(worker, '', 1)).error).toMatchObject({ code: 'topic_not_set' });
});

test('[modules 6.6] [Q10] The dead letters of all functions of a topic are listed together, in pages', async () => {
  await using engine = await startQueueEngine();
  await using worker = await RawWorker.connect(engine.url);
  const config = { topic: 'orders', queue_config: { maxRetries: 0 } };
  for (const id of ['one', 'other']) {
    await worker.serve(id, () => {
      throw new Error('no');
    });
    worker.send({ type: 'registertrigger', id, trigger_type: 'queue', function_id: id, config });
  }
  for (const n of [1, 2]) await publish(worker, 'orders', n);
  await waitFor('all are dead', async () => (await statsOf(worker, 'orders')).dlq_depth === 4);
  const first = await deadLettersOf(worker, 'orders', { limit: 3 });
  const rest = await deadLettersOf(worker, 'orders', { offset: 3, limit: 3 });
  expect([first.length, rest.length]).toEqual([3, 1]);
  expect(new Set([...first, ...rest].map(({ id }) => id)).size).toBe(4);
  expect([...first, ...rest].map(({ payload }) => payload).toSorted()).toEqual([1, 1, 2, 2]);
});

test('[modules 6.5] A message without a subscriber is kept for the first one, also over a restart', async () => {
  using folder = new TemporaryFolder();
  const yaml = queueYaml({ folder: folder.path });
  {
    await using engine = await startTestEngine({ yaml });
    await using worker = await RawWorker.connect(engine.url);
    for (const n of [1, 2, 3]) await publish(worker, 'orders', n);
    expect(await statsOf(worker, 'orders')).toMatchObject({ depth: 3, dlq_depth: 0 });
  }
  await using engine = await startTestEngine({ yaml });
  await using worker = await RawWorker.connect(engine.url);
  const seen = await subscribe(worker, 'late', { topic: 'orders' });
  await waitFor('all messages have arrived', () => seen.length === 3);
  expect(new Set(seen)).toEqual(new Set([1, 2, 3]));
});

test('[modules 6.5] A subscriber that was away gets what was published meanwhile; one that unsubscribed does not', async () => {
  await using engine = await startQueueEngine();
  await using publisher = await RawWorker.connect(engine.url);
  const gone = await RawWorker.connect(engine.url);
  await subscribe(gone, 'away', { topic: 'orders' });
  await gone[Symbol.asyncDispose]();
  await using leaver = await RawWorker.connect(engine.url);
  const left = await subscribe(leaver, 'left', { topic: 'orders' });
  leaver.send({ type: 'unregistertrigger', id: 'left-durable:subscriber' });
  await leaver.settled();
  await publish(publisher, 'orders', 'meanwhile');
  await using back = await RawWorker.connect(engine.url);
  const seen = await subscribe(back, 'away', { topic: 'orders' });
  await waitFor('the message has arrived', () => seen.length === 1);
  expect(left).toEqual([]);
});

test('[modules 1.5] A condition that returns false drops the message; one that fails is a failed attempt', async () => {
  await using engine = await startQueueEngine();
  await using worker = await RawWorker.connect(engine.url);
  let asked = 0;
  await worker.serve('cond', (data) => {
    if (data === 'flaky' && ++asked === 1) throw new Error('broken');
    return data !== 'no';
  });
  const config = { topic: 't', condition_function_id: 'cond', queue_config: { backoffDelayMs: 1 } };
  const seen = await subscribe(worker, 'f', config);
  for (const data of ['no', 'flaky', 'yes']) await publish(worker, 't', data);
  await waitFor('the two have run', () => seen.length === 2);
  expect(new Set(seen)).toEqual(new Set(['flaky', 'yes']));
  expect(asked).toBe(2);
});

const withTtl = (folder: string, ttlMs: number): string =>
  queueYaml({ folder }).replace('config: {queue_configs', `config: {topic_unroutable_ttl_ms: ${ttlMs}, queue_configs`);

test('[Q7] Copies for a subscriber that does not return after a restart become dead letters', async () => {
  using folder = new TemporaryFolder();
  {
    await using engine = await startTestEngine({ yaml: queueYaml({ folder: folder.path }) });
    await using worker = await RawWorker.connect(engine.url);
    await subscribe(worker, 'gone', { topic: 'orders' });
  }
  await using engine = await startTestEngine({ yaml: withTtl(folder.path, 1_500) });
  await using publisher = await RawWorker.connect(engine.url);
  // A function of that id without a trigger is no subscription.
  const seen: unknown[] = [];
  await publisher.serve('gone', (data) => seen.push(data));
  await publish(publisher, 'orders', 1);
  await waitFor('it is a dead letter', async () => (await statsOf(publisher, 'orders')).dlq_depth === 1, 10_000);
  expect((await statsOf(publisher, 'orders')).depth).toBe(0);
  expect(seen).toEqual([]);
});

test('[modules 6.5] A subscriber that returns after a restart gets what was published before it returned', async () => {
  using folder = new TemporaryFolder();
  const yaml = queueYaml({ folder: folder.path });
  {
    await using engine = await startTestEngine({ yaml });
    await using worker = await RawWorker.connect(engine.url);
    await subscribe(worker, 'back', { topic: 'orders' });
  }
  await using engine = await startTestEngine({ yaml });
  await using worker = await RawWorker.connect(engine.url);
  for (const n of [1, 2]) await publish(worker, 'orders', n);
  await waitFor('both messages wait', async () => (await statsOf(worker, 'orders')).states.waiting_for_worker === 2);
  const seen = await subscribe(worker, 'back', { topic: 'orders' });
  await waitFor('both messages have arrived', () => seen.length === 2);
  expect(seen.toSorted()).toEqual([1, 2]);
});

test('[modules 6.5] The queue of a subscriber that does not return in time is removed when it is empty', async () => {
  using folder = new TemporaryFolder();
  const clock = new TurningClock();
  const ttlMs = 2_000;
  await using engine = await startTestEngine({ yaml: withTtl(folder.path, ttlMs), clock });
  await using publisher = await RawWorker.connect(engine.url);
  const topics = async () => {
    const { result } = await publisher.call('engine::queue::list_topics', {});
    return (result as { name: string }[]).map(({ name }) => name);
  };
  const gone = await RawWorker.connect(engine.url);
  await subscribe(gone, 'away', { topic: 'orders' });
  await gone[Symbol.asyncDispose]();
  await publish(publisher, 'orders', 'meanwhile');
  await waitFor('its copy is a dead letter', async () => {
    clock.advance(ttlMs / 2);
    return (await statsOf(publisher, 'orders')).dlq_depth === 1;
  });
  expect(await topics()).toContain('orders');
  await publisher.call('svc::queue::purge', { queue: 'orders' });
  await waitFor('its queue is removed', async () => {
    clock.advance(ttlMs / 2);
    return !(await topics()).includes('orders');
  });
  await publish(publisher, 'orders', 'for the next one');
  expect(await statsOf(publisher, 'orders')).toMatchObject({ depth: 1, states: { waiting_for_worker: 1 } });
});

test('[R3] The store keeps nothing of the queues of removed topics and functions', async () => {
  using folder = new TemporaryFolder();
  const clock = new TurningClock();
  {
    await using engine = await startTestEngine({ yaml: withTtl(folder.path, 2_000), clock });
    await using worker = await RawWorker.connect(engine.url);
    for (const topic of ['one', 'two']) {
      await subscribe(worker, topic, { topic });
      worker.send({ type: 'unregistertrigger', id: `${topic}-durable:subscriber` });
      await worker.settled();
    }
    await waitFor('both queues are removed', async () => {
      clock.advance(1_000);
      const { result } = await worker.call('engine::queue::list_topics', {});
      return (result as unknown[]).length === 1;
    });
  }
  const { store, registry } = await openTestStore(directory(folder.path));
  const left = (await builtinAdapter(store, systemClock).stats()).map(({ queue }) => queue);
  expect(left).toEqual(['default']);
  await registry.close();
});

test('[K4] [F1] A subscriber with a new queue type gets the waiting jobs in the old type, and then the new type', async () => {
  await using engine = await startQueueEngine();
  await using publisher = await RawWorker.connect(engine.url);
  const first = await RawWorker.connect(engine.url);
  await subscribe(first, 'both', { topic: 'orders' });
  await first[Symbol.asyncDispose]();
  for (const n of [1, 2]) await publish(publisher, 'orders', n);
  await waitFor('both messages wait', async () => (await statsOf(publisher, 'orders')).states.waiting_for_worker === 2);
  const fifo = { topic: 'orders', queue_config: { type: 'fifo' } };
  {
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('both');
    worker.send({ type: 'registertrigger', id: 't', trigger_type: 'queue', function_id: 'both', config: fifo });
    const calls = [await worker.next('invokefunction'), await worker.next('invokefunction')];
    for (const call of calls) worker.answer(call, { result: null });
    await waitFor('the queue is empty', async () => (await statsOf(publisher, 'orders')).depth === 0);
  }
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('both');
  worker.send({ type: 'registertrigger', id: 't', trigger_type: 'queue', function_id: 'both', config: fifo });
  await worker.settled();
  for (const n of [3, 4]) await publish(publisher, 'orders', n);
  const call = await worker.next('invokefunction');
  expect(call.data).toBe(3);
  await worker.settled();
  expect(await statsOf(publisher, 'orders')).toMatchObject({ states: { running: 1, waiting: 1 } });
  worker.answer(call, { result: null });
  expect((await worker.next('invokefunction')).data).toBe(4);
});
