import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('a trigger of an engine type', () => {
  test('[wire 4.1] It is bound at once, without an answer', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.bind('t', 'engine::functions-available', 'f');
    expect(worker.received()).toEqual([]);
    expect(engine.context.triggers.binding('t')?.state).toBe('bound');
  });

  test.each([[null], [{}]])('[wire 6.4] The config %j is accepted', (config) => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.bind('t', 'engine::workers-available', 'f', { config });
    expect(worker.received()).toEqual([]);
  });

  test.each([
    [{ interval: 5 }, "The config must be an empty object, found the key 'interval'"],
    [{ __proto__x: 1 }, "The config must be an empty object, found the key '__proto__x'"],
    [[], 'The config must be an empty object'],
    ['x', 'The config must be an empty object'],
  ])('[wire 4.1] The config %j is refused with the reason, and the trigger stays listed with it', (config, message) => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.bind('t', 'engine::workers-available', 'f', { config });
    expect(worker.receivedOne('triggerregistrationresult')).toEqual({
      type: 'triggerregistrationresult',
      id: 't',
      trigger_type: 'engine::workers-available',
      function_id: 'f',
      error: { code: 'trigger_registration_failed', message },
    });
    expect(worker.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({
      status: 'Error',
      error: message,
    });
  });
});

describe('a trigger of a type without a provider', () => {
  test('[wire 4.1] It waits without an error, shown as inactive', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.bind('t', 'webhook', 'f');
    expect(worker.received()).toEqual([]);
    expect(worker.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({
      status: 'Inactive',
      trigger: null,
    });
  });

  test('[wire 4.2] It is sent to the provider as soon as there is one, with all its fields', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    owner.bind('t', 'webhook', 'hooks::in', { config: { path: '/gh' }, metadata: { tenant: 'é' } });
    provider.provideType('webhook');
    expect(provider.receivedOne('registertrigger')).toEqual({
      type: 'registertrigger',
      id: 't',
      trigger_type: 'webhook',
      function_id: 'hooks::in',
      config: { path: '/gh' },
      metadata: { tenant: 'é' },
    });
    expect(engine.context.triggers.binding('t')?.state).toBe('bound');
  });

  test('[wire 2.1] A config that was left out is sent as null', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.send({ type: 'registertrigger', id: 't', trigger_type: 'webhook', function_id: 'f' });
    expect(provider.receivedOne('registertrigger')).toEqual({
      type: 'registertrigger',
      id: 't',
      trigger_type: 'webhook',
      function_id: 'f',
      config: null,
    });
  });
});

describe('a trigger that its owner removes', () => {
  test('[wire 4.5] The provider is notified with all fields, and the trigger is removed', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f', { config: { path: '/gh' } });
    provider.received();
    owner.unbind('t');
    owner.unbind('t');
    expect(provider.receivedOne('unregistertrigger')).toEqual({
      type: 'unregistertrigger',
      id: 't',
      trigger_type: 'webhook',
      function_id: 'f',
      config: { path: '/gh' },
    });
    expect(engine.context.triggers.binding('t')).toBeUndefined();
  });

  test('[wire 4.5] No other connection can remove it, not even its provider', () => {
    const engine = new EngineInMemory();
    const [owner, provider, outsider] = [engine.connect(), engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    provider.received();
    outsider.unbind('t');
    provider.unbind('t');
    expect(provider.received()).toEqual([]);
    expect(engine.context.triggers.binding('t')?.state).toBe('bound');
  });

  test('[wire 4.5] Removing one that never existed is no error', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.unbind('nothing');
    expect(worker.received()).toEqual([]);
  });
});

describe('a trigger id that is used again', () => {
  test('[wire 4.1] The same worker replaces its trigger, and the provider gets the new one', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f', { config: 1 });
    owner.bind('t', 'webhook', 'g', { config: 2 });
    expect(provider.received('registertrigger').map(({ config }) => config)).toEqual([1, 2]);
    expect([...engine.context.triggers.bindings()].map(({ functionId }) => functionId)).toEqual(['g']);
  });

  test('[wire 4.5] With another type, the provider of the old type is notified of its removal', () => {
    const engine = new EngineInMemory();
    const [owner, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    first.provideType('webhook');
    second.provideType('timer');
    owner.bind('t', 'webhook', 'f', { config: { path: '/gh' } });
    first.received();
    owner.bind('t', 'timer', 'f', { config: { every: 5 } });
    expect(first.receivedOne('unregistertrigger')).toMatchObject({ id: 't', trigger_type: 'webhook' });
    expect(second.receivedOne('registertrigger')).toMatchObject({ id: 't', trigger_type: 'timer' });
  });

  test('[W3] Another worker takes the trigger over, and the old owner cannot remove it', () => {
    const engine = new EngineInMemory();
    const [old, successor] = [engine.connect(), engine.connect()];
    old.bind('t', 'webhook', 'f');
    successor.bind('t', 'webhook', 'f');
    old.unbind('t');
    old.drop();
    expect(engine.context.triggers.binding('t')?.owner?.workerId).toBe(successor.workerId);
  });
});

describe('invalid registrations', () => {
  test.each([
    ['trigger id', { id: ' ' }, 'The trigger id must not be blank'],
    ['trigger type', { trigger_type: 'a\nb' }, 'The trigger type must not contain control characters'],
    ['function id', { function_id: 'x'.repeat(300) }, 'The function id is 300 bytes long, over the limit of 256'],
  ])('[guarantees 4] An invalid %s is refused with the reason', (_kind, fields, message) => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.bind('t', 'webhook', 'f', fields);
    expect(worker.receivedOne('triggerregistrationresult')).toMatchObject({
      error: { code: 'trigger_registration_failed', message },
      ...fields,
    });
    expect([...engine.context.triggers.bindings()]).toEqual([]);
    expect(engine.count('registrations.rejected')).toBe(1);
  });

  test('[guarantees 4] A trigger config of 100 000 bytes is refused', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.bind('t', 'custom', 'f', { config: { text: 'x'.repeat(100_000) } });
    expect(worker.receivedOne('triggerregistrationresult')).toMatchObject({
      error: { code: 'trigger_registration_failed' },
    });
  });

  test('[PD-57] A trigger in another namespace is refused and not bound to the default one', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.bind('t', 'custom', 'f', { namespace: 'billing' });
    const { error } = worker.receivedOne('triggerregistrationresult');
    expect(error).toMatchObject({ message: expect.stringContaining("no namespace 'billing'") });
  });
});
