import { describe, expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('engine::functions::list', () => {
  test('[wire 6.2] Functions of workers are listed by id, with everything that was registered', () => {
    const { engine, caller, worker } = setUp();
    worker.announce({ name: 'calc' });
    worker.register('math::sub');
    worker.register('math::add', {
      description: 'Adds',
      metadata: { team: 'é' },
      request_format: { type: 'object' },
      response_format: { type: 'number' },
    });
    worker.bind('t', 'engine::workers-available', 'math::add');
    const [first, second] = list(caller);
    expect(first).toEqual({
      function_id: 'math::add',
      namespace: 'default',
      worker_name: 'calc',
      description: 'Adds',
      metadata: { team: 'é' },
      request_format: { type: 'object' },
      response_format: { type: 'number' },
      triggers: { count: 1, types: ['engine::workers-available'] },
      workers: [{ id: worker.workerId, name: 'calc' }],
      status: 'active',
    });
    expect(second).toEqual({
      function_id: 'math::sub',
      namespace: 'default',
      worker_name: 'calc',
      triggers: { count: 0, types: [] },
      workers: [{ id: worker.workerId, name: 'calc' }],
      status: 'active',
    });
    expect(engine.count('frames.refused')).toBe(0);
  });

  test('[wire 6.2] A worker without a name is listed under the namespace of the function', () => {
    const { caller, worker } = setUp();
    worker.register('math::add');
    expect(list(caller)[0]).toMatchObject({
      worker_name: 'math',
      workers: [{ id: worker.workerId, name: worker.workerId }],
    });
  });

  test('[wire 3.2] All workers of a function are listed, and the newest one provides the description', () => {
    const { engine, caller, worker } = setUp();
    const second = engine.connect();
    worker.announce({ name: 'old' });
    second.announce({ name: 'new' });
    worker.register('f', { description: 'old' });
    second.register('f', { description: 'new' });
    expect(list(caller)[0]).toMatchObject({
      worker_name: 'new',
      description: 'new',
      workers: [{ name: 'old' }, { name: 'new' }],
    });
    second.drop();
    expect(list(caller)[0]).toMatchObject({ worker_name: 'old', description: 'old' });
  });

  test('[wire 6.2] Internal functions are listed only on request', () => {
    const { caller, worker } = setUp();
    worker.register('open');
    worker.register('hidden', { metadata: { internal: true } });
    worker.register('shown', { metadata: { internal: 'true' } });
    worker.register('enginex');
    expect(idsOf(list(caller))).toEqual(['enginex', 'open', 'shown']);
    expect(idsOf(list(caller, { include_internal: false }))).toEqual(['enginex', 'open', 'shown']);
    const all = idsOf(list(caller, { include_internal: true }));
    expect(all).toContain('hidden');
    expect(all).toContain('engine::functions::list');
    expect(all).toEqual([...all].sort());
  });

  test.each([
    [{ prefix: 'math::' }, ['math::add', 'math::sub']],
    [{ prefix: 'Math::' }, []],
    [{ prefix: '' }, ['mail::send', 'math::add', 'math::sub']],
    [{ search: 'ADD' }, ['math::add', 'mail::send']],
    [{ search: 'nothing' }, []],
    [{ search: 'm', prefix: 'mail' }, ['mail::send']],
    [{ worker: 'calc' }, ['math::add', 'math::sub']],
    [{ worker: 'missing' }, []],
    [{ workers: ['calc', 'post'] }, ['mail::send', 'math::add', 'math::sub']],
    [{ workers: ['post'], worker: 'calc' }, ['mail::send', 'math::add', 'math::sub']],
    [{ workers: [] }, ['mail::send', 'math::add', 'math::sub']],
    [
      { search: null, prefix: null, worker: null, workers: null, include_internal: null },
      ['mail::send', 'math::add', 'math::sub'],
    ],
    [null, ['mail::send', 'math::add', 'math::sub']],
  ])('[wire 6.2] The filter %j gives %j', (filter, expected) => {
    const { engine, caller, worker } = setUp();
    const post = engine.connect();
    worker.announce({ name: 'calc' });
    post.announce({ name: 'post' });
    worker.register('math::sub');
    worker.register('math::add');
    post.register('mail::send', { description: 'Sends to an address' });
    expect(idsOf(list(caller, filter))).toEqual(expected);
  });

  test('[wire 6.2] The filter accepts the id of a worker too', () => {
    const { caller, worker } = setUp();
    worker.register('f');
    expect(idsOf(list(caller, { worker: worker.workerId }))).toEqual(['f']);
  });
});

describe('engine::functions::info', () => {
  test('[wire 6.2] A function has its schemas and its triggers', () => {
    const { caller, worker } = setUp();
    worker.register('f', { request_format: { type: 'object' }, response_format: true });
    worker.bind('t', 'webhook', 'f', { config: { path: '/x' } });
    worker.bind('other', 'webhook', 'g');
    const info = caller.ask('engine::functions::info', { function_id: 'f' });
    expect(info).toMatchObject({
      function_id: 'f',
      request_schema: { type: 'object' },
      response_schema: true,
      registered_triggers: [{ id: 't', trigger_type: 'webhook', config: { path: '/x' }, status: 'Inactive' }],
    });
    expect(info).not.toHaveProperty('request_format');
  });

  test('[wire 6.2] Built-in functions are described too', () => {
    const { caller } = setUp();
    expect(caller.ask('engine::functions::info', { function_id: 'engine::health::check' })).toMatchObject({
      worker_name: 'svc-engine-functions',
      workers: [{ id: 'svc-engine-functions', name: 'svc-engine-functions' }],
    });
  });

  test('[wire 6.2] Each of several functions is described or reported as missing', () => {
    const { caller, worker } = setUp();
    worker.register('f');
    expect(caller.ask('engine::functions::info', { function_ids: ['f', 'missing'] })).toMatchObject({
      functions: [{ function_id: 'f' }, { function_id: 'missing', error: 'not_found' }],
    });
  });

  test('[wire 6.2] 32 functions may be requested at a time', () => {
    const { caller } = setUp();
    const ids = Array.from({ length: 32 }, (_, index) => `f${index}`);
    expect(caller.ask('engine::functions::info', { function_ids: ids })).toMatchObject({ functions: { length: 32 } });
  });

  test.each([
    [{ function_id: 'missing' }, 'NOT_FOUND', 'Function missing not found'],
    [{}, 'INVALID_ARGUMENTS', 'Give either function_id or function_ids'],
    [null, 'INVALID_ARGUMENTS', 'Give either function_id or function_ids'],
    [{ function_id: 'f', function_ids: ['f'] }, 'INVALID_ARGUMENTS', 'Give either function_id or function_ids'],
    [{ function_ids: [] }, 'INVALID_ARGUMENTS', 'function_ids must hold 1 to 32 ids, found 0'],
    [
      { function_ids: Array.from({ length: 33 }, () => 'f') },
      'INVALID_ARGUMENTS',
      'function_ids must hold 1 to 32 ids, found 33',
    ],
  ])('[wire 6.2] %j is refused', (payload, code, message) => {
    const { caller } = setUp();
    const id = caller.invoke('engine::functions::info', payload);
    expect(caller.answerTo(id).error).toEqual({ code, message });
  });
});

describe('payloads of the wrong shape', () => {
  test.each([
    ['engine::functions::list', { search: 5 }, "field 'search' must be string, found number"],
    ['engine::functions::list', { workers: 'x' }, "field 'workers' must be array, found string"],
    ['engine::functions::list', { workers: ['a', 5] }, "field 'workers[1]' must be string, found number"],
    ['engine::functions::list', 'text', 'the payload must be object, found string'],
    ['engine::functions::list', [], 'the payload must be object, found array'],
    ['engine::functions::info', { function_id: {} }, "field 'function_id' must be string, found object"],
    ['engine::workers::register', { name: [] }, "field 'name' must be string, found array"],
    ['engine::triggers::info', {}, "field 'id' must be string, found nothing"],
    ['engine::registered-triggers::info', { id: null }, "field 'id' must be string, found null"],
    ['engine::unregister_trigger', null, "field 'id' must be string, found nothing"],
  ])('[wire 2.4] %s with %j is refused with the field, the expected type and the value', (id, payload, detail) => {
    const { caller } = setUp();
    const call = caller.invoke(id, payload);
    expect(caller.answerTo(call).error).toEqual({
      code: 'deserialization_error',
      message: `Failed to deserialize input for ${id}: ${detail}`,
    });
  });

  test('[wire 2.4] An asynchronous function refuses them in the same way', async () => {
    const { engine, caller } = setUp();
    const call = caller.invoke('engine::register_trigger', { trigger_type: 'x' });
    await engine.turn();
    expect(caller.answerTo(call).error).toMatchObject({
      code: 'deserialization_error',
      message:
        "Failed to deserialize input for engine::register_trigger: field 'function_id' must be string, found nothing",
    });
  });

  test('[X22] The answer does not quote the payload', () => {
    const { caller } = setUp();
    const call = caller.invoke('engine::functions::list', { search: { password: 'hunter2' } });
    expect(JSON.stringify(caller.answerTo(call))).not.toContain('hunter2');
  });
});

function setUp(): { engine: EngineInMemory; caller: TestWorker; worker: TestWorker } {
  const engine = new EngineInMemory();
  return { engine, caller: engine.connect(), worker: engine.connect() };
}

function list(caller: TestWorker, filter: unknown = {}): unknown[] {
  const { functions } = Object(caller.ask('engine::functions::list', filter));
  return Array.isArray(functions) ? functions : [];
}

function idsOf(rows: readonly unknown[]): string[] {
  return rows.map((row) => String(Object(row).function_id));
}
