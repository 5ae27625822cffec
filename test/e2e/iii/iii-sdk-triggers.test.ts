// Trigger types and triggers of the published client of `iii`: types that workers provide, and those of the engine.

import { beforeEach, describe, expect, test, vi } from 'vitest';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Binding {
  id: string;
  function_id: string;
  config: unknown;
  metadata?: unknown;
}

/** A worker that provides the type `webhook` and fires it by hand. */
class Provider implements AsyncDisposable {
  readonly client: IiiClient;
  readonly registered = vi.fn<(binding: Binding) => void>();
  readonly unregistered = vi.fn<(binding: Binding) => void>();

  constructor(engine: TestEngine, refusal?: string) {
    this.client = new IiiClient(engine.url, { workerName: 'hooks' });
    this.client.sdk.registerTriggerType<unknown>(TYPE, {
      registerTrigger: async (binding) => {
        this.registered(binding);
        if (refusal !== undefined) throw new Error(refusal);
      },
      unregisterTrigger: async (binding) => this.unregistered(binding),
    });
  }

  /** The triggers it was given, once there are that many. */
  async bindings(count = 1): Promise<Binding[]> {
    await waitFor(`the provider has ${count} bindings`, () => this.registered.mock.calls.length >= count);
    return this.registered.mock.calls.map(([binding]) => binding);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
  }
}

const TYPE = { id: 'webhook', description: 'Inbound webhook' };

function bindHook(client: IiiClient) {
  return client.sdk.registerTrigger({
    type: 'webhook',
    function_id: 'hooks::in',
    config: { path: '/gh' },
    metadata: { team: 'core' },
  });
}

async function statusOf(client: IiiClient, functionId: string): Promise<string | undefined> {
  const { registered_triggers: rows } = await client.sdk.trigger({
    function_id: 'engine::registered-triggers::list',
    payload: { function_id: functionId },
  });
  return rows[0]?.status;
}

const DELIVERED = {
  id: expect.stringMatching(/^[\da-f-]{36}$/),
  function_id: 'hooks::in',
  config: { path: '/gh' },
  metadata: { team: 'core' },
};

// The client reports connections and refused triggers on the console.
const reported = vi.fn<(text: string) => void>();

beforeEach(() => {
  vi.spyOn(console, 'debug').mockReturnValue(undefined);
  reported.mockReset();
  vi.spyOn(console, 'error').mockImplementation(reported);
});

describe('a trigger type of a worker', () => {
  test('[wire 10.15] a trigger reaches its provider, which fires it by calling the function', async () => {
    await using engine = await startTestEngine();
    await using provider = new Provider(engine);
    await using binder = new IiiClient(engine.url);
    await provider.client.ready();
    const fired = new Promise((resolve) => {
      binder.sdk.registerFunction('hooks::in', async (event, metadata) => resolve([event, metadata]));
    });
    bindHook(binder);
    const [binding] = await provider.bindings();
    expect(binding).toEqual(DELIVERED);
    await provider.client.call(String(binding?.function_id), { push: 1 }, { metadata: binding?.metadata });
    expect(await fired).toEqual([{ push: 1 }, { team: 'core' }]);
    expect(await statusOf(binder, 'hooks::in')).toBe('Active');
  });

  test('[wire 10.14] [wire 10.15] a trigger without a provider waits, and is delivered when one appears', async () => {
    await using engine = await startTestEngine();
    await using binder = new IiiClient(engine.url);
    binder.sdk.registerFunction('hooks::in', async () => null);
    bindHook(binder);
    expect(await statusOf(binder, 'hooks::in')).toBe('Inactive');
    await using provider = new Provider(engine);
    expect(await provider.bindings()).toEqual([DELIVERED]);
    expect(await statusOf(binder, 'hooks::in')).toBe('Active');
    expect(reported).not.toHaveBeenCalled();
  });

  test('[wire 4.5] a provider that restarts finds the triggers it had, parked in the meantime', async () => {
    await using engine = await startTestEngine();
    await using binder = new IiiClient(engine.url);
    binder.sdk.registerFunction('hooks::in', async () => null);
    const first = new Provider(engine);
    await first.client.ready();
    bindHook(binder);
    const [before] = await first.bindings();
    await first[Symbol.asyncDispose]();
    await waitFor('the binding is parked', async () => (await statusOf(binder, 'hooks::in')) === 'Inactive');
    await using second = new Provider(engine);
    expect(await second.bindings()).toEqual([before]);
    expect(await statusOf(binder, 'hooks::in')).toBe('Active');
  });

  test('[wire 4.2] the newest provider of a type gets every trigger of it', async () => {
    await using engine = await startTestEngine();
    await using binder = new IiiClient(engine.url);
    await using first = new Provider(engine);
    await first.client.ready();
    bindHook(binder);
    bindHook(binder);
    const before = await first.bindings(2);
    await using second = new Provider(engine);
    const after = await second.bindings(2);
    expect(after.map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
  });

  test('[wire 10.16] the provider learns of an unregistered trigger, with type, function and config', async () => {
    await using engine = await startTestEngine();
    await using provider = new Provider(engine);
    await using binder = new IiiClient(engine.url);
    await provider.client.ready();
    const trigger = bindHook(binder);
    const [binding] = await provider.bindings();
    trigger.unregister();
    await waitFor('the provider is notified', () => provider.unregistered.mock.calls.length > 0);
    expect(provider.unregistered.mock.calls).toEqual([[binding]]);
  });

  test('[wire 4.5] the triggers of a worker that leaves are taken from their provider', async () => {
    await using engine = await startTestEngine();
    await using provider = new Provider(engine);
    const binder = new IiiClient(engine.url);
    await provider.client.ready();
    bindHook(binder);
    const [binding] = await provider.bindings();
    await binder.sdk.shutdown();
    await waitFor('the provider is notified', () => provider.unregistered.mock.calls.length > 0);
    expect(provider.unregistered.mock.calls).toEqual([[binding]]);
  });

  test('[wire 10.17] a provider may withdraw its type, which parks the triggers', async () => {
    await using engine = await startTestEngine();
    await using provider = new Provider(engine);
    await using binder = new IiiClient(engine.url);
    binder.sdk.registerFunction('hooks::in', async () => null);
    await provider.client.ready();
    bindHook(binder);
    await provider.bindings();
    provider.client.sdk.unregisterTriggerType(TYPE);
    await provider.client.ready();
    expect(await statusOf(binder, 'hooks::in')).toBe('Inactive');
  });

  test("[wire 4.3] a provider's refusal is reported to the binder and shown with its reason", async () => {
    await using engine = await startTestEngine();
    await using provider = new Provider(engine, 'path /gh is taken');
    await using binder = new IiiClient(engine.url);
    await provider.client.ready();
    bindHook(binder);
    await waitFor('the binder reports it', () => reported.mock.calls.length > 0);
    expect(reported.mock.calls[0]?.[0]).toMatch(/^\[iii\] Trigger registration failed for .*: path \/gh is taken$/);
    expect(await statusOf(binder, 'hooks::in')).toBe('Error');
  });

  test('[wire 4.3] only the current provider of a type may answer for a trigger', async () => {
    await using engine = await startTestEngine();
    await using provider = new Provider(engine);
    await using binder = new IiiClient(engine.url);
    await using other = await RawWorker.connect(engine.url);
    binder.sdk.registerFunction('hooks::in', async () => null);
    await provider.client.ready();
    bindHook(binder);
    const [binding] = await provider.bindings();
    const error = { code: 'trigger_registration_failed', message: 'not mine to say' };
    other.send({
      type: 'triggerregistrationresult',
      id: binding?.id,
      trigger_type: 'webhook',
      function_id: 'hooks::in',
      error,
    });
    await other.settled();
    expect(await statusOf(binder, 'hooks::in')).toBe('Active');
    await expectCount(engine, 1, 'triggers.foreign_results');
  });
});

describe('a durable trigger', () => {
  test('[wire 4.4] outlives the connection that registered it, until it is removed', async () => {
    await using engine = await startTestEngine();
    await using provider = new Provider(engine);
    await provider.client.ready();
    const caller = new IiiClient(engine.url);
    const request = { trigger_type: 'webhook', function_id: 'hooks::in', config: { path: '/d' } };
    const { id } = await caller.sdk.trigger({ function_id: 'engine::register_trigger', payload: request });
    expect(await provider.bindings()).toEqual([{ id, function_id: 'hooks::in', config: { path: '/d' } }]);
    await caller.sdk.shutdown();
    await provider.client.ready();
    expect(provider.unregistered).not.toHaveBeenCalled();
    const remove = () =>
      provider.client.sdk.trigger({
        function_id: 'engine::unregister_trigger',
        payload: { id, trigger_type: 'webhook' },
      });
    expect(await remove()).toEqual({ removed: true });
    expect(await remove()).toEqual({ removed: false });
    await waitFor('the provider is notified', () => provider.unregistered.mock.calls.length === 1);
  });

  test('[wire 4.4] that its provider refuses is refused to the caller, and not kept', async () => {
    await using engine = await startTestEngine();
    await using provider = new Provider(engine, 'no more paths');
    await provider.client.ready();
    const payload = { trigger_type: 'webhook', function_id: 'hooks::in', config: {} };
    await expect(provider.client.call('engine::register_trigger', payload)).rejects.toMatchObject({
      code: 'trigger_registration_failed',
      message: expect.stringContaining('trigger_registration_failed: no more paths'),
    });
    expect(await statusOf(provider.client, 'hooks::in')).toBeUndefined();
  });
});

describe('a trigger type of the engine', () => {
  test('[wire 6.4] engine::functions-available reports the functions when they change', async () => {
    await using engine = await startTestEngine();
    await using watcher = new IiiClient(engine.url);
    const events: { event: string; functions: { function_id: string }[] }[] = [];
    watcher.sdk.registerFunction('watch::functions', async (event) => events.push(event));
    watcher.sdk.registerTrigger({ type: 'engine::functions-available', function_id: 'watch::functions', config: {} });
    await watcher.ready();
    await using worker = new IiiClient(engine.url);
    const added = worker.sdk.registerFunction('math::add', async () => 0);
    const latest = () => events.at(-1)?.functions.map(({ function_id }) => function_id) ?? [];
    await waitFor('the new function is reported', () => latest().includes('math::add'));
    expect(events.at(-1)).toMatchObject({ event: 'functions_changed' });
    added.unregister();
    await waitFor('its end is reported', () => !latest().includes('math::add'));
  });

  test('[wire 6.4] engine::workers-available reports that a worker connected, announced itself, and left', async () => {
    await using engine = await startTestEngine();
    await using watcher = new IiiClient(engine.url);
    const events: { event: string; worker_id: string }[] = [];
    watcher.sdk.registerFunction('watch::workers', async (event) => events.push(event));
    watcher.sdk.registerTrigger({ type: 'engine::workers-available', function_id: 'watch::workers', config: {} });
    await watcher.ready();
    const worker = await RawWorker.connect(engine.url);
    await worker.call('engine::workers::register', { name: 'visitor' });
    worker.close();
    const ofWorker = () => events.filter((event) => event.worker_id === worker.workerId).map(({ event }) => event);
    await waitFor('the worker left', () => ofWorker().includes('worker_disconnected'));
    expect(ofWorker()).toEqual(['worker_connected', 'worker_metadata_updated', 'worker_disconnected']);
  });

  test('[wire 10.14] a config that the engine cannot accept is refused with a reason', async () => {
    await using engine = await startTestEngine();
    await using binder = new IiiClient(engine.url);
    binder.sdk.registerTrigger({ type: 'engine::functions-available', function_id: 'a::b', config: { every: 5 } });
    await binder.ready();
    await waitFor('the binder reports it', () => reported.mock.calls.length > 0);
    expect(reported.mock.calls[0]?.[0]).toContain(
      "(engine::functions-available): The config must be an empty object, found the key 'every'",
    );
  });

  test('[wire 4.2] its type cannot be taken over by a worker', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    worker.send({ type: 'registertriggertype', id: 'engine::functions-available', description: 'mine' });
    const { result } = await worker.call('engine::triggers::info', { id: 'engine::functions-available' });
    expect(result).toMatchObject({ worker_name: 'svc-engine-functions' });
    await expectCount(engine, 1, 'registrations.rejected');
  });
});
