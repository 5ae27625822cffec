import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('the provider of a trigger type', () => {
  test('[wire 4.2] It gets every trigger of the type, existing and new ones', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    owner.bind('before', 'webhook', 'f');
    owner.bind('elsewhere', 'timer', 'f');
    provider.provideType('webhook');
    owner.bind('after', 'webhook', 'f');
    provider.bind('own', 'webhook', 'f');
    expect(provider.received('registertrigger').map(({ id }) => id)).toEqual(['before', 'after', 'own']);
  });

  test('[wire 4.2] It gets all triggers again when it registers again', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    for (const id of ['a', 'b']) owner.bind(id, 'webhook', 'f');
    provider.received();
    provider.provideType('webhook', { description: 'new words' });
    expect(provider.received('registertrigger').map(({ id }) => id)).toEqual(['a', 'b']);
    expect(owner.ask('engine::triggers::info', { id: 'webhook' })).toMatchObject({
      description: 'new words',
      instance_count: 2,
    });
  });

  test('[wire 4.5] When it leaves, triggers of others wait and its own are removed', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('theirs', 'webhook', 'f');
    provider.bind('own', 'webhook', 'f');
    provider.drop();
    expect([...engine.context.triggers.bindings()].map(({ id, state }) => [id, state])).toEqual([['theirs', 'parked']]);
    expect(owner.received()).toEqual([]);
  });

  test('[W3] When it returns, it gets the waiting triggers again', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f', { config: { path: '/gh' } });
    provider.drop();
    const returned = engine.connect();
    returned.provideType('webhook');
    expect(returned.receivedOne('registertrigger')).toMatchObject({ id: 't', config: { path: '/gh' } });
    expect(engine.context.triggers.binding('t')?.state).toBe('bound');
  });

  test('[wire 4.2] When it withdraws the type, triggers wait until a worker provides it again', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    provider.received();
    provider.send({ type: 'unregistertriggertype', id: 'webhook' });
    expect(engine.context.triggers.binding('t')?.state).toBe('parked');
    expect(provider.received()).toEqual([]);
    provider.provideType('webhook');
    expect(provider.received('registertrigger')).toHaveLength(1);
  });

  test('[wire 4.2] No other worker can withdraw the type', () => {
    const engine = new EngineInMemory();
    const [provider, outsider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    outsider.send({ type: 'unregistertriggertype', id: 'webhook' });
    outsider.send({ type: 'unregistertriggertype', id: 'engine::workers-available' });
    expect(engine.context.triggers.type('webhook')).toBeDefined();
    expect(engine.context.triggers.type('engine::workers-available')).toBeDefined();
  });

  test('[wire 4.2] A second provider takes over, and the first can no longer judge or withdraw', () => {
    const engine = new EngineInMemory();
    const [owner, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    first.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    const [binding] = first.received('registertrigger');
    second.provideType('webhook');
    expect(second.received('registertrigger')).toHaveLength(1);
    if (binding !== undefined) first.judge(binding, { code: 'no', message: 'late' });
    first.send({ type: 'unregistertriggertype', id: 'webhook' });
    first.drop();
    expect(engine.context.triggers.binding('t')?.state).toBe('bound');
    expect(owner.received()).toEqual([]);
  });

  test('[wire 4.2] Types of the engine cannot be replaced', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.provideType('engine::workers-available');
    expect(engine.context.triggers.type('engine::workers-available')?.provider.kind).toBe('module');
    expect(engine.count('registrations.rejected')).toBe(1);
    expect(engine.logLines.join('\n')).toContain('the type belongs to a module of the engine');
  });

  test('[SDK-7] The SDK of the engine is notified that its type was refused; the wire of `iii` has no frame for it', () => {
    const engine = new EngineInMemory();
    const [own, foreign] = [engine.connect({ ownSdk: true }), engine.connect()];
    for (const worker of [own, foreign]) worker.provideType('engine::workers-available');
    expect(own.receivedOne('registrationrejected')).toMatchObject({
      code: 'trigger_registration_failed',
      function_id: '',
      trigger_type: 'engine::workers-available',
      message: 'the type belongs to a module of the engine',
    });
    expect(foreign.received()).toEqual([]);
  });

  test('[guarantees 4] A type whose id breaks the rules is refused, with a line in the log', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.provideType('x'.repeat(300));
    worker.provideType('a\u001b[2Jb');
    expect([...engine.context.triggers.types()].every(({ provider }) => provider.kind === 'module')).toBe(true);
    expect(engine.count('registrations.rejected')).toBe(2);
    expect(engine.logLines.join('\n')).not.toContain('\u001b');
  });
});

describe('the verdict on a binding', () => {
  test('[wire 4.3] A refusal is passed on to the owner, and the trigger is listed as an error', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    const error = { code: 'bad_path', message: 'größer als /', extra: 1 };
    provider.judge(provider.receivedOne('registertrigger'), error);
    expect(owner.receivedOne('triggerregistrationresult')).toEqual({
      type: 'triggerregistrationresult',
      id: 't',
      trigger_type: 'webhook',
      function_id: 'f',
      error,
    });
    expect(owner.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({
      status: 'Error',
      error: 'größer als /',
    });
  });

  test('[wire 4.3] An acceptance is not passed on', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.register('f');
    owner.bind('t', 'webhook', 'f');
    provider.judge(provider.receivedOne('registertrigger'));
    expect(owner.received()).toEqual([]);
    expect(owner.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({ status: 'Active' });
  });

  test('[wire 4.3] Only a verdict of the provider of the type counts', () => {
    const engine = new EngineInMemory();
    const [owner, provider, outsider] = [engine.connect(), engine.connect(), engine.connect()];
    provider.provideType('webhook');
    outsider.provideType('other');
    owner.bind('t', 'webhook', 'f');
    const binding = provider.receivedOne('registertrigger');
    outsider.judge(binding, { code: 'no', message: 'forged' });
    owner.judge(binding, { code: 'no', message: 'forged too' });
    expect(owner.received()).toEqual([]);
    expect(engine.context.triggers.binding('t')?.state).toBe('bound');
    expect(engine.count('triggers.foreign_results')).toBe(2);
  });

  test('[wire 4.3] A verdict on a removed trigger has no effect', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    const binding = provider.receivedOne('registertrigger');
    owner.unbind('t');
    provider.judge(binding, { code: 'no', message: 'late' });
    expect(owner.received()).toEqual([]);
    expect(engine.count('triggers.foreign_results')).toBe(1);
  });

  test('[wire 4.3] A refused trigger is offered again only when the type is registered again', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    provider.judge(provider.receivedOne('registertrigger'), { code: 'no', message: 'not now' });
    owner.bind('other', 'webhook', 'f');
    expect(provider.received('registertrigger').map(({ id }) => id)).toEqual(['other']);
    provider.provideType('webhook');
    expect(provider.received('registertrigger').map(({ id }) => id)).toEqual(['t', 'other']);
    expect(engine.context.triggers.binding('t')).toMatchObject({ state: 'bound', error: undefined });
  });

  test.each([
    ['a text', 'nein – größer', 'nein – größer'],
    ['a number', 5, '5'],
    ['a list', ['é'], '["é"]'],
    ['no message', { code: 'é' }, '{"code":"é"}'],
    [
      'an object for a message',
      { message: { toString: 'not a function' } },
      '{"message":{"toString":"not a function"}}',
    ],
    ['a message without a prototype to speak of', { message: { valueOf: 1, toString: 1 } }, undefined],
    ['null for a message', { message: null }, '{"message":null}'],
  ])('[X19] A refusal with the error %s is shown', (_case, error, shown) => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    provider.judge(provider.receivedOne('registertrigger'), error);
    expect(owner.receivedOne('triggerregistrationresult').error).toEqual(error);
    expect(engine.context.triggers.binding('t')?.error).toBe(shown ?? JSON.stringify(error));
  });
});

describe('triggers at unusual moments', () => {
  test('[wire 4.3] A verdict on a replaced trigger of another type is ignored', () => {
    const engine = new EngineInMemory();
    const [owner, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    first.provideType('webhook');
    second.provideType('timer');
    owner.bind('t', 'webhook', 'f');
    const old = first.receivedOne('registertrigger');
    owner.bind('t', 'timer', 'f');
    first.judge(old, { code: 'no', message: 'late' });
    expect(owner.received()).toEqual([]);
    expect(engine.context.triggers.binding('t')).toMatchObject({ type: 'timer', state: 'bound' });
  });

  test('[wire 4.3] A verdict of a provider that has left is ignored, even after its return', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    const binding = provider.receivedOne('registertrigger');
    provider.drop();
    const returned = engine.connect();
    returned.judge(binding, { code: 'no', message: 'before the type is there again' });
    expect(engine.context.triggers.binding('t')?.state).toBe('parked');
    returned.provideType('webhook');
    expect(engine.context.triggers.binding('t')?.state).toBe('bound');
  });

  test('[wire 4.2] The type and the trigger of one worker both end when it leaves', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.provideType('webhook');
    worker.bind('t', 'webhook', 'f');
    worker.drop();
    expect([...engine.context.triggers.bindings()]).toEqual([]);
    expect(engine.context.triggers.type('webhook')).toBeUndefined();
  });

  test('[wire 4.1] A refused trigger that is registered again with a valid config is bound', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('f');
    worker.bind('t', 'engine::workers-available', 'f', { config: { x: 1 } });
    worker.received();
    worker.bind('t', 'engine::workers-available', 'f');
    expect(worker.received()).toEqual([]);
    expect(worker.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({ status: 'Active' });
  });

  test('[wire 4.2] A type that is withdrawn and provided again in one turn keeps its triggers', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    provider.received();
    provider.send({ type: 'unregistertriggertype', id: 'webhook' });
    provider.provideType('webhook');
    expect(provider.received('registertrigger')).toHaveLength(1);
    expect(engine.context.triggers.binding('t')?.state).toBe('bound');
  });
});
