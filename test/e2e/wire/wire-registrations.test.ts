// Registrations frame by frame, and the engine's reports about them: what clients of other languages and versions send
// and rely on.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const MIB = 1024 * 1024;

describe('registrations', () => {
  test('[wire 10.11] are an upsert: the last description and schemas count, in any shape', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    const register = (fields: object) => worker.send({ type: 'registerfunction', id: 'math::add', ...fields });
    register({ description: 'first', request_format: { type: 'object' } });
    register({ description: 'second', request_format: { name: 'old', body: [{ name: 'x', type: 'number' }] } });
    register({ description: 'third', request_format: ['no', { schema: 'at all' }], response_format: true });
    const { result } = await worker.call('engine::functions::info', { function_id: 'math::add' });
    expect(result).toMatchObject({
      description: 'third',
      request_schema: ['no', { schema: 'at all' }],
      response_schema: true,
      workers: [{ id: worker.workerId }],
    });
    worker.startCall('math::add');
    await worker.next('invokefunction');
    await worker.settled();
    expect(worker.frames).toEqual([]);
  });

  test('[wire 3.1] that are refused are answered with the reason, and affect nothing else', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    for (const id of ['engine::functions::list', 'engine::mine', ' ', 'a\u0000b', 'x'.repeat(257)]) {
      worker.send({ type: 'registerfunction', id });
      expect(await worker.next('registrationrejected')).toMatchObject({
        code: 'FUNCTION_NAMESPACE_CONFLICT',
        function_id: id,
        namespace: 'default',
        owner_worker_id: '',
      });
    }
    worker.send({ type: 'registerservice', id: 'math', name: 'Maths' });
    await worker.serve('x'.repeat(256), () => 'long');
    expect(await worker.call('x'.repeat(256))).toMatchObject({ result: 'long' });
  });

  test('[wire 10.13] of a trigger may be repeated with the same id, and count once', async () => {
    await using engine = await startTestEngine();
    await using provider = await RawWorker.connect(engine.url);
    await using binder = await RawWorker.connect(engine.url);
    provider.send({ type: 'registertriggertype', id: 'webhook', description: 'Inbound' });
    await provider.settled();
    const trigger = { type: 'registertrigger', id: 'tr-1', trigger_type: 'webhook', function_id: 'a::b' };
    binder.send({ ...trigger, config: { path: '/1' } });
    binder.send({ ...trigger, config: { path: '/2' } });
    expect(await provider.next('registertrigger')).toEqual({ ...trigger, config: { path: '/1' } });
    expect(await provider.next('registertrigger')).toEqual({ ...trigger, config: { path: '/2' } });
    const { result } = await binder.call('engine::registered-triggers::list', { trigger_type: 'webhook' });
    expect(result).toMatchObject({ registered_triggers: [{ id: 'tr-1', config: { path: '/2' } }] });
    binder.send({ type: 'unregistertrigger', id: 'tr-1' });
    expect(await provider.next('unregistertrigger')).toMatchObject({ id: 'tr-1', trigger_type: 'webhook' });
    binder.send({ type: 'unregistertrigger', id: 'tr-1' });
    await Promise.all([binder.settled(), provider.settled()]);
    expect(provider.frames).toEqual([]);
  });

  test('[W2] that are still being checked when their connection ends register nothing', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    const big = { text: 'x'.repeat(MIB) };
    worker.send({ type: 'registerfunction', id: 'ghost::one', metadata: big });
    worker.send({ type: 'registertrigger', id: 'ghost', trigger_type: 't', function_id: 'ghost::one', config: big });
    worker.close();
    await worker.closed;
    const dropped = () => engine.counters.get('frames.dropped', 'connection_closed');
    await waitFor('both were checked', () => dropped() === 2);
    await using other = await RawWorker.connect(engine.url);
    expect(await other.call('engine::functions::list')).toMatchObject({ result: { functions: [] } });
    const { result } = await other.call('engine::registered-triggers::list');
    expect(result).toEqual({ registered_triggers: [] });
  });

  test('[wire 4.5] of a trigger can be undone only by its owner', async () => {
    await using engine = await startTestEngine();
    await using owner = await RawWorker.connect(engine.url);
    await using stranger = await RawWorker.connect(engine.url);
    owner.send({ type: 'registertrigger', id: 'tr-1', trigger_type: 'webhook', function_id: 'a::b', config: null });
    await owner.settled();
    stranger.send({ type: 'unregistertrigger', id: 'tr-1', trigger_type: 'webhook' });
    const { result } = await stranger.call('engine::registered-triggers::info', { id: 'tr-1' });
    expect(result).toMatchObject({ id: 'tr-1', status: 'Inactive' });
  });
});

describe('the reports of the engine about itself', () => {
  test('[wire 10.32] are lists under the documented names, sorted by id', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    for (const id of ['b::two', 'a::one', 'c::three']) await worker.register(id);
    const list = async (functionId: string, key: string, payload: object = {}): Promise<unknown[]> => {
      const { result } = await worker.call(functionId, payload);
      expect(result).toHaveProperty(key);
      return (result as Record<string, unknown[]>)[key] ?? [];
    };
    const functions = await list('engine::functions::list', 'functions');
    expect(functions).toMatchObject([
      { function_id: 'a::one' },
      { function_id: 'b::two' },
      { function_id: 'c::three' },
    ]);
    expect(await list('engine::functions::list', 'functions', { search: 'TWO' })).toHaveLength(1);
    expect(await list('engine::functions::list', 'functions', { include_internal: true })).not.toHaveLength(3);
    // It never announced itself, and is listed all the same.
    expect(await list('engine::workers::list', 'workers')).toContainEqual(
      expect.objectContaining({
        id: worker.workerId,
        name: null,
        runtime: null,
        function_count: 3,
        status: 'available',
      }),
    );
    expect(await list('engine::registered-triggers::list', 'registered_triggers')).toEqual([]);
    expect(await list('engine::triggers::list', 'triggers', { include_internal: true })).toMatchObject([
      { id: 'engine::functions-available' },
      { id: 'engine::workers-available' },
      { id: 'log' },
    ]);
    expect(await list('engine::trigger-types::list', 'trigger_types', { include_internal: true })).toHaveLength(3);
  });

  test('[wire 6.2] names the error in an invalid request', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    const codeFor = async (functionId: string, payload: unknown) => {
      const { error } = await worker.call(functionId, payload);
      return (error as { code: string } | undefined)?.code;
    };
    const info = 'engine::functions::info';
    expect(await codeFor(info, {})).toBe('INVALID_ARGUMENTS');
    expect(await codeFor(info, { function_id: 'a', function_ids: ['a'] })).toBe('INVALID_ARGUMENTS');
    expect(await codeFor(info, { function_ids: [] })).toBe('INVALID_ARGUMENTS');
    expect(await codeFor(info, { function_ids: Array(33).fill('a') })).toBe('INVALID_ARGUMENTS');
    expect(await codeFor(info, { function_id: 'no::one' })).toBe('NOT_FOUND');
    expect(await codeFor(info, { function_id: 7 })).toBe('deserialization_error');
    expect(await codeFor(info, 'text')).toBe('deserialization_error');
    expect(await codeFor('engine::workers::info', { name: 'unknown' })).toBe('NOT_FOUND');
    expect(await codeFor('engine::triggers::info', { id: 'nothing' })).toBe('NOT_FOUND');
  });

  test('[wire 6.1] shows the name of a worker without characters that could control a terminal', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    const name = `\u001b[31mred\u202e ${'x'.repeat(300)}`;
    await worker.call('engine::workers::register', { name, description: ' \u0007 ', isolation: null, telemetry: {} });
    const { result } = await worker.call('engine::workers::info', { worker_id: worker.workerId });
    const shown = (result as { worker: { name: string; description: string | null; runtime: string } }).worker;
    expect(shown).toMatchObject({ description: null, runtime: 'unknown' });
    expect(shown.name).toBe(`[31mred ${'x'.repeat(280)}`.slice(0, 280));
  });
});
