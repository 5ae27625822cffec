import { describe, expect, test } from 'vitest';
import { eventsModule } from '../../../../src/modules/events/index.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { addModule } from '../../../support/engine/add-module.ts';
import type { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { openRestricted } from '../../../support/engine/restricted-port.ts';

const rbac = {
  expose_functions: ['match("api::*")', 'match("engine::*")'],
  allow_trigger_types: ['t', 'engine::functions-available', 'engine::workers-available'],
};

describe('what a restricted connection can see', () => {
  test('[X10] It lists the functions that it may call', async () => {
    const { page } = await openWithSecrets();
    const ids = listOf(page.ask('engine::functions::list'), 'functions').map((row) => row.function_id);
    expect(ids).toEqual(['api::x']);
    expect(page.ask('engine::functions::info', { function_id: 'api::x' })).toMatchObject({
      function_id: 'api::x',
      registered_triggers: [{ id: 'open' }],
    });
  });

  test.each(['secret::x', 'secret::y', 'api::unknown'])(
    '[X10] It gets the same answer about %s, hidden or missing',
    async (id) => {
      const { page } = await openWithSecrets();
      const asked = page.invoke('engine::functions::info', { function_id: id });
      expect(page.answerTo(asked)).toMatchObject({
        error: { code: 'FORBIDDEN', message: `Function '${id}' is not there, or not for this connection` },
      });
      expect(page.ask('engine::functions::info', { function_ids: [id] })).toEqual({
        functions: [{ function_id: id, error: 'forbidden' }],
      });
    },
  );

  test('[X10] It lists its own triggers, and those whose functions it may call', async () => {
    const { page } = await openWithSecrets();
    page.bind('mine', 't', 'ui::mine');
    const rows = listOf(page.ask('engine::registered-triggers::list'), 'registered_triggers');
    expect(rows.map(({ id }) => id)).toEqual(['mine', 'open']);
    for (const id of ['target', 'condition', 'unknown']) {
      expect(page.errorCodeOf(page.invoke('engine::registered-triggers::info', { id }))).toBe('FORBIDDEN');
    }
    expect(page.errorCodeOf(page.invoke('engine::unregister_trigger', { id: 'target' }))).toBe('FORBIDDEN');
  });

  test('[X7] [X10] It cannot fire a trigger whose functions it may not call', async () => {
    const { page } = await openWithSecrets();
    for (const id of ['target', 'condition', 'unknown']) {
      expect(page.errorCodeOf(page.invoke('engine::triggers::fire', { id }))).toBe('FORBIDDEN');
    }
  });

  test('[X10] It lists the trigger types that it may bind', async () => {
    const { page } = await openWithSecrets();
    expect(listOf(page.ask('engine::triggers::list'), 'triggers').map(({ id }) => id)).toEqual(['t']);
    expect(listOf(page.ask('engine::trigger-types::list'), 'trigger_types').map(({ id }) => id)).toEqual(['t']);
    for (const id of ['hidden', 'unknown']) {
      expect(page.errorCodeOf(page.invoke('engine::triggers::info', { id }))).toBe('FORBIDDEN');
    }
    expect(page.ask('engine::triggers::info', { id: 't' })).toMatchObject({ id: 't', instance_count: 1 });
  });

  test('[X10] It lists the workers whose functions it may call, without their addresses', async () => {
    const { page, backend, hidden } = await openWithSecrets();
    const rows = listOf(page.ask('engine::workers::list'), 'workers').filter(({ internal }) => internal === false);
    expect(rows.map(({ id }) => id).sort()).toEqual([backend.workerId, page.workerId].sort());
    expect(rows.find(({ id }) => id === backend.workerId)).toMatchObject({
      functions: ['api::x'],
      function_count: 1,
      ip_address: null,
    });
    for (const wanted of [{ worker_id: hidden.workerId }, { worker_id: 'none' }, { name: 'hidden' }]) {
      expect(page.errorCodeOf(page.invoke('engine::workers::info', wanted))).toBe('FORBIDDEN');
    }
    expect(page.ask('engine::workers::info', { worker_id: backend.workerId })).toMatchObject({
      functions: [{ function_id: 'api::x' }],
      trigger_types: [{ id: 't' }],
      registered_triggers: [{ id: 'open' }],
    });
  });

  test('[X10] Events of the engine report only what it may call', async () => {
    const { engine, page, backend, hidden } = await openWithSecrets();
    page.bind('b-f', 'engine::functions-available', 'ui::mine');
    page.bind('b-w', 'engine::workers-available', 'ui::mine');
    hidden.announce({ name: 'hidden still' });
    expect(page.received()).toEqual([]);
    backend.announce({ name: 'backend' });
    expect(page.nextCall().data).toEqual({ event: 'worker_metadata_updated', worker_id: backend.workerId });
    hidden.register('secret::new');
    engine.advance(1_000);
    const answer = page.nextCall().data;
    expect(listOf(answer, 'functions').map((row) => row.function_id)).toEqual(['api::x']);
  });

  test('[X10] An emitted event reports the triggers whose functions it may call', async () => {
    const { engine, page, backend } = await openWithSecrets();
    const events = eventsModule.create(engine.moduleContext(), {}, { name: 'local', config: {} });
    await addModule(engine, 'svc-pubsub', events);
    backend.bind('e-open', 'event', 'api::x', { config: { topic: 'a' } });
    backend.bind('e-hidden', 'event', 'secret::x', { config: { topic: 'a' } });
    const answer = await answered(engine, page, page.invoke('engine::events::emit', { topic: 'a' }));
    expect(listOf(answer, 'triggers')).toEqual([{ id: 'e-open', trigger_type: 'event', function_id: 'api::x' }]);
    expect(backend.received('invokefunction').map((call) => call.function_id)).toEqual(['api::x', 'secret::x']);
  });

  test('[X10] A trusted worker still sees everything', async () => {
    const { backend } = await openWithSecrets();
    const ids = listOf(backend.ask('engine::functions::list'), 'functions').map((row) => row.function_id);
    expect(ids).toEqual(['api::x', 'auth', 'secret::x', 'secret::z', 'ui::mine']);
    const asked = backend.invoke('engine::functions::info', { function_id: 'unknown' });
    expect(backend.errorCodeOf(asked)).toBe('NOT_FOUND');
  });
});

/** The answer of a built-in function that answers later. */
async function answered(engine: EngineInMemory, page: TestWorker, id: string): Promise<unknown> {
  while (page.answersTo(id).length === 0) {
    await Promise.resolve();
    engine.flush();
  }
  return page.answerTo(id).result;
}

async function openWithSecrets() {
  const { engine, backend, browser } = await openRestricted({ rbac });
  const hidden = engine.connect();
  backend.register('api::x');
  backend.register('secret::x');
  hidden.register('secret::z');
  hidden.announce({ name: 'hidden' });
  backend.provideType('t');
  hidden.provideType('hidden');
  backend.bind('open', 't', 'api::x');
  backend.bind('target', 't', 'secret::x');
  backend.bind('condition', 't', 'api::x', { config: { condition_function_id: 'secret::x' } });
  const page = await browser();
  page.register('ui::mine');
  for (const worker of [backend, hidden]) worker.received();
  return { engine, backend, hidden, page };
}

function listOf(answer: unknown, key: string): readonly Readonly<Record<string, unknown>>[] {
  const list: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, key) : undefined;
  if (Array.isArray(list)) return list;
  throw new Error(`No list under '${key}' in ${JSON.stringify(answer)}`);
}
