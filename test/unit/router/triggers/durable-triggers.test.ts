import { describe, expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

const REQUEST = { trigger_type: 'webhook', function_id: 'f', config: { path: '/gh' }, metadata: { a: 1 } };

describe('a trigger without an owner', () => {
  test('[wire 4.4] A trigger of an engine type is bound at once', async () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const id = await bindDurable(engine, caller, { trigger_type: 'engine::workers-available', function_id: 'f' });
    expect(engine.context.triggers.binding(id)).toMatchObject({ state: 'bound', owner: undefined });
  });

  test('[wire 4.4] `type` is accepted in place of `trigger_type`', async () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const id = await bindDurable(engine, caller, { type: 'engine::workers-available', function_id: 'f' });
    expect(engine.context.triggers.binding(id)?.type).toBe('engine::workers-available');
  });

  test('[wire 4.4] It outlives the connection that made it', async () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const id = await bindDurable(engine, caller, REQUEST);
    caller.drop();
    expect(engine.context.triggers.binding(id)).toMatchObject({ state: 'parked', functionId: 'f' });
  });

  test('[wire 4.4] A trigger of a type without a provider waits, and its caller is answered', async () => {
    const engine = new EngineInMemory();
    const [caller, provider] = [engine.connect(), engine.connect()];
    const id = await bindDurable(engine, caller, REQUEST);
    provider.provideType('webhook');
    expect(provider.receivedOne('registertrigger')).toMatchObject({ id, config: { path: '/gh' }, metadata: { a: 1 } });
  });

  test('[wire 4.4] Any caller can remove it, and only once', async () => {
    const engine = new EngineInMemory();
    const [caller, other, provider] = [engine.connect(), engine.connect(), engine.connect()];
    const id = await bindDurable(engine, caller, REQUEST);
    provider.provideType('webhook');
    provider.received();
    expect(other.ask('engine::unregister_trigger', { id })).toEqual({ removed: true });
    expect(provider.receivedOne('unregistertrigger')).toMatchObject({ id });
    expect(other.ask('engine::unregister_trigger', { id })).toEqual({ removed: false });
  });

  test('[wire 4.4] engine::unregister_trigger does not remove a trigger of a connection', () => {
    const engine = new EngineInMemory();
    const [owner, other] = [engine.connect(), engine.connect()];
    owner.bind('t', 'webhook', 'f');
    expect(other.ask('engine::unregister_trigger', { id: 't' })).toEqual({ removed: false });
    expect(engine.context.triggers.binding('t')).toBeDefined();
  });

  test.each([
    [{ function_id: 'f' }, 'INVALID_ARGUMENTS', 'engine::register_trigger needs trigger_type'],
    [{ trigger_type: 'x', function_id: '' }, 'BAD_REQUEST', 'The function id must not be blank'],
    [{ trigger_type: 'a\nb', function_id: 'f' }, 'BAD_REQUEST', 'The trigger type must not contain control characters'],
    [
      { trigger_type: 'engine::workers-available', function_id: 'f', config: { x: 1 } },
      'trigger_registration_failed',
      "The config must be an empty object, found the key 'x'",
    ],
  ])('[wire 4.4] %j is refused with code and reason', async (payload, code, message) => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const id = caller.invoke('engine::register_trigger', payload);
    await engine.turn();
    expect(caller.answerTo(id).error).toEqual({ code, message });
    expect([...engine.context.triggers.bindings()]).toEqual([]);
  });
});

describe('the verdict of a worker that provides the type', () => {
  test('[wire 4.4] The caller waits for it', async () => {
    const { engine, caller, provider, id } = await askProvider();
    expect(caller.answersTo(id)).toEqual([]);
    provider.judge(provider.receivedOne('registertrigger'));
    await engine.turn();
    const [binding] = engine.context.triggers.bindings();
    expect(caller.answerTo(id).result).toEqual({ id: binding?.id });
  });

  test.each([
    [{ code: 'bad_path', message: 'größer' }, 'bad_path: größer'],
    ['nein', 'nein'],
    [{ message: { toString: 1 } }, '{"message":{"toString":1}}'],
  ])('[wire 4.4] The refusal %j is reported in one line, and the trigger is removed', async (error, message) => {
    const { engine, caller, provider, id } = await askProvider();
    provider.judge(provider.receivedOne('registertrigger'), error);
    await engine.turn();
    expect(caller.answerTo(id).error).toEqual({ code: 'trigger_registration_failed', message });
    expect([...engine.context.triggers.bindings()]).toEqual([]);
  });

  test('[wire 4.4] No answer within ten seconds counts as acceptance, and a later refusal is shown on the trigger', async () => {
    const { engine, caller, provider, id } = await askProvider();
    const binding = provider.receivedOne('registertrigger');
    engine.advance(9999);
    await engine.turn();
    expect(caller.answersTo(id)).toEqual([]);
    engine.advance(1);
    await engine.turn();
    expect(caller.answerTo(id).result).toEqual({ id: binding.id });
    provider.judge(binding, { code: 'no', message: 'after all' });
    expect(engine.context.triggers.binding(String(binding.id))).toMatchObject({ state: 'refused', error: 'after all' });
    expect(caller.answersTo(id)).toHaveLength(1);
  });

  test('[wire 4.4] The verdict of another worker does not count', async () => {
    const { engine, caller, provider, id } = await askProvider();
    const outsider = engine.connect();
    outsider.judge(provider.receivedOne('registertrigger'), { code: 'no', message: 'forged' });
    await engine.turn();
    expect(caller.answersTo(id)).toEqual([]);
    expect([...engine.context.triggers.bindings()]).toHaveLength(1);
  });

  test('[I1] A second verdict changes nothing for the caller', async () => {
    const { engine, caller, provider, id } = await askProvider();
    const binding = provider.receivedOne('registertrigger');
    provider.judge(binding);
    provider.judge(binding, { code: 'no', message: 'changed its mind' });
    await engine.turn();
    expect(caller.answersTo(id)).toHaveLength(1);
    expect(caller.answerTo(id)).toHaveProperty('result');
  });

  test('[I3] A caller with a short deadline gets its TIMEOUT, and the engine waits on', async () => {
    const engine = new EngineInMemory();
    const [caller, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    const id = caller.invoke('engine::register_trigger', REQUEST, { timeout_ms: 500 });
    engine.advance(600);
    expect(caller.errorCodeOf(id)).toBe('TIMEOUT');
    provider.judge(provider.receivedOne('registertrigger'));
    await engine.turn();
    expect(caller.answersTo(id)).toHaveLength(1);
    expect(engine.count('invocations.late_results')).toBe(1);
    expect(engine.context.moduleExecutor.inFlight).toBe(0);
  });

  test('[wire 4.4] If the provider leaves before its verdict, the trigger waits for its return', async () => {
    const { engine, caller, provider, id } = await askProvider();
    provider.drop();
    engine.advance(10_000);
    await engine.turn();
    const [binding] = engine.context.triggers.bindings();
    expect(caller.answerTo(id).result).toEqual({ id: binding?.id });
    expect(binding?.state).toBe('parked');
  });
});

async function askProvider() {
  const engine = new EngineInMemory();
  const [caller, provider] = [engine.connect(), engine.connect()];
  provider.provideType('webhook');
  const id = caller.invoke('engine::register_trigger', REQUEST);
  await engine.turn();
  return { engine, caller, provider, id };
}

async function bindDurable(engine: EngineInMemory, caller: TestWorker, payload: object): Promise<string> {
  const invocationId = caller.invoke('engine::register_trigger', payload);
  await engine.turn();
  const { result } = caller.answerTo(invocationId);
  if (typeof result !== 'object' || result === null || !('id' in result)) throw new Error('The trigger was refused');
  return String(result.id);
}
