import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventsModule } from '../../../../src/modules/events/index.ts';
import { Topics } from '../../../../src/modules/events/triggers.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { addModule } from '../../../support/engine/add-module.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

let engine: EngineInMemory;
let worker: TestWorker;
let emitter: TestWorker;

beforeEach(async () => {
  engine = new EngineInMemory();
  const module = eventsModule.create(engine.moduleContext(), {}, { name: 'local', config: {} });
  await addModule(engine, 'svc-pubsub', module);
  worker = engine.connect();
  emitter = engine.connect();
  worker.register('mail::welcome');
});

afterEach(() => engine.stop());

/** The calls of the worker since the last check. */
function heard(by: TestWorker = worker): unknown[] {
  return by.received('invokefunction').map(({ data }) => data);
}

function reasonOf(type: string, config: unknown): unknown {
  worker.bind('t', type, 'mail::welcome', { config });
  const [refusal] = worker.received('triggerregistrationresult');
  return (refusal?.error as { message?: string } | undefined)?.message;
}

describe('an event', () => {
  test('[modules 8] reaches the function bound to its topic, with unchanged data', () => {
    worker.bind('t', 'event', 'mail::welcome', { config: { topic: 'user.created' }, metadata: { kind: 'm' } });
    expect(emitter.ask('publish', { topic: 'user.created', data: { id: 7 } })).toBeNull();
    emitter.ask('publish', { topic: 'user.deleted', data: { id: 7 } });
    expect(worker.received('invokefunction')).toMatchObject([{ data: { id: 7 }, metadata: { kind: 'm' } }]);
  });

  test.each([['text'], [0], [false], [null], [[1, 2]], [undefined]])('[modules 8] may carry %j', (data) => {
    worker.bind('t', 'event', 'mail::welcome', { config: { topic: 'a' } });
    emitter.ask('publish', { topic: 'a', data });
    expect(heard()).toEqual([data ?? null]);
  });

  test.each(['event', 'subscribe'])('[modules 8] fires triggers of type %s, by topic or by name', (type) => {
    worker.bind('t1', type, 'mail::welcome', { config: { topic: 'a' } });
    worker.bind('t2', type, 'mail::welcome', { config: { name: 'a' } });
    emitter.ask('publish', { topic: 'a', data: 1 });
    expect(heard()).toEqual([1, 1]);
  });

  test('[PD-23] reaches wildcard subscriptions', () => {
    worker.bind('t', 'subscribe', 'mail::welcome', { config: { topic: 'user.*' } });
    for (const topic of ['user.created', 'users.created', 'user.']) emitter.ask('publish', { topic, data: topic });
    expect(heard()).toEqual(['user.created', 'user.']);
  });

  test('[PD-26] reaches two replicas of a worker once', () => {
    const replica = engine.connect();
    replica.register('mail::welcome');
    worker.bind('t1', 'event', 'mail::welcome', { config: { topic: 'a' } });
    replica.bind('t2', 'event', 'mail::welcome', { config: { topic: 'a' } });
    emitter.ask('publish', { topic: 'a', data: 1 });
    expect([...heard(), ...heard(replica)]).toEqual([1]);
    worker.drop();
    emitter.ask('publish', { topic: 'a', data: 2 });
    expect(heard(replica)).toEqual([2]);
  });

  test('[modules 8] does not reach a removed trigger, and reaches all others of the topic', () => {
    worker.bind('t1', 'event', 'mail::welcome', { config: { topic: 'a' }, metadata: 1 });
    worker.bind('t2', 'event', 'mail::welcome', { config: { topic: 'a' }, metadata: 2 });
    worker.unbind('t1');
    emitter.ask('publish', { topic: 'a' });
    expect(worker.received('invokefunction')).toMatchObject([{ metadata: 2 }]);
  });

  test('[T8] does not reach a handler whose condition returns false, in both spellings', () => {
    worker.register('rules::adult');
    for (const type of ['event', 'subscribe']) {
      worker.bind(type, type, 'mail::welcome', { config: { topic: 'a', condition_function_id: 'rules::adult' } });
    }
    emitter.ask('publish', { topic: 'a', data: { age: 12 } });
    const asked = worker.received('invokefunction');
    expect(asked.map(({ function_id, data }) => [function_id, data])).toEqual([
      ['rules::adult', { age: 12 }],
      ['rules::adult', { age: 12 }],
    ]);
    const [first, second] = asked;
    if (first !== undefined) worker.result(first, false);
    if (second !== undefined) worker.result(second, 'not false');
    expect(worker.received('invokefunction')).toMatchObject([{ function_id: 'mail::welcome' }]);
  });

  test('[I8] whose handler publishes it again ends at depth 64', () => {
    worker.bind('loop', 'event', 'publish', { config: { topic: 'loop' } });
    let data: unknown = null;
    for (let depth = 0; depth < 100; depth++) data = { topic: 'loop', data };
    emitter.ask('publish', { topic: 'loop', data });
    expect(engine.count('triggers.failed')).toBe(1);
    expect(engine.port.trigger('loop')?.error).toContain('DEPTH_EXCEEDED');
  });
});

describe('engine::events::emit', () => {
  test('[modules 8] returns the triggers that it fires, under the names of the console too', async () => {
    worker.bind('t1', 'event', 'mail::welcome', { config: { topic: 'user.*' } });
    worker.bind('t2', 'subscribe', 'gone::away', { config: { topic: 'other' } });
    const call = emitter.invoke('engine::events::emit', { name: 'user.created', payload: 5 });
    await engine.turn();
    expect(emitter.answerTo(call).result).toEqual({
      topic: 'user.created',
      triggers: [{ id: 't1', trigger_type: 'event', function_id: 'mail::welcome' }],
      engines: 1,
    });
    expect(heard()).toEqual([5]);
  });
});

describe('refusals', () => {
  test.each([
    [{}, 'topic_not_set'],
    [{ topic: '' }, 'topic_not_set'],
    [{ topic: null }, 'topic_not_set'],
    [{ topic: 7 }, 'deserialization_error'],
    [{ topic: 'user.*' }, 'BAD_REQUEST'],
    [{ topic: 'a\u0000b' }, 'BAD_REQUEST'],
    [{ topic: 'a'.repeat(257) }, 'BAD_REQUEST'],
  ])('[modules 8] publishing %j: %s', (payload, code) => {
    expect(emitter.errorCodeOf(emitter.invoke('publish', payload))).toBe(code);
  });

  test.each([
    [{}, 'topic is required'],
    [undefined, 'topic is required'],
    [{ topic: 'a', name: 'b' }, 'not both'],
    [{ topic: '' }, 'config.topic'],
    [{ topic: 7 }, 'config.topic'],
    [{ topc: 'a' }, "Did you mean 'topic'"],
    [{ topic: '*'.repeat(17) }, '17 stars'],
    [{ topic: 'a'.repeat(257) }, '257 bytes'],
    ['user.created', 'found the text'],
    [{ topic: 'a', condition_function_id: 7 }, 'condition_function_id'],
  ])('[modules 1.6] a trigger with the config %j is refused: %s', (config, text) => {
    expect(reasonOf('event', config)).toContain(text);
    expect(reasonOf('subscribe', config)).toContain(text);
  });
});

function listenersOf(topic: string, ...subscriptions: readonly string[]): string[] {
  const topics = new Topics<{ topic: string }>();
  for (const subscription of subscriptions) topics.add(subscription, { topic: subscription });
  return topics.listeners(topic).map((listener) => listener.topic);
}

test('[modules 8] A topic reaches its exact subscribers', () => {
  expect(listenersOf('user.created', 'user.created', 'user.deleted', 'User.created', 'user')).toEqual(['user.created']);
});

test('[PD-23] A star matches any run of characters, and every other character itself', () => {
  expect(listenersOf('user.created', 'user.*', '*.created', '*', 'u*d', 'user.*.x', 'order.*', 'user?created')).toEqual(
    ['user.*', '*.created', '*', 'u*d'],
  );
});

test('[modules 8] Removing one removes no other', () => {
  const topics = new Topics<object>();
  const [first, second, third] = [{}, {}, {}];
  topics.add('a', first);
  topics.add('a', second);
  topics.add('*', third);
  topics.remove('a', first);
  expect(topics.listeners('a')).toEqual([second, third]);
  topics.remove('*', third);
  expect(topics.listeners('a')).toEqual([second]);
});
