import { describe, expect, test } from 'vitest';
import { Access, ANONYMOUS } from '../../../../src/core/access/access.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('trigger types', () => {
  test('[PD-5] engine::triggers::list has trigger types, those of the engine on request', () => {
    const { caller, worker } = setUp();
    worker.announce({ name: 'hooks' });
    worker.provideType('webhook');
    const row = { id: 'webhook', namespace: 'default', worker_name: 'hooks', description: 'Type webhook' };
    expect(caller.ask('engine::triggers::list')).toEqual({ triggers: [row] });
    expect(caller.ask('engine::triggers::list', { include_internal: true })).toMatchObject({
      triggers: [{ id: 'engine::functions-available' }, { id: 'engine::workers-available' }, row],
    });
  });

  test.each([
    [{ search: 'HOOK' }, ['webhook']],
    [{ prefix: 't' }, ['timer']],
    [{ worker: 'hooks' }, ['timer', 'webhook']],
    [{ worker: 'missing' }, []],
  ])('[wire 6.2] The filter %j gives %j', (filter, expected) => {
    const { caller, worker } = setUp();
    worker.announce({ name: 'hooks' });
    worker.provideType('webhook');
    worker.provideType('timer');
    const { triggers } = Object(caller.ask('engine::triggers::list', filter));
    expect(triggers.map((row: unknown) => Object(row).id)).toEqual(expected);
  });

  test('[wire 6.2] engine::triggers::info adds the schemas and the count of bindings', () => {
    const { caller, worker } = setUp();
    worker.provideType('webhook', { trigger_request_format: { type: 'object' }, call_request_format: true });
    caller.bind('a', 'webhook', 'f');
    caller.bind('b', 'other', 'f');
    expect(caller.ask('engine::triggers::info', { id: 'webhook' })).toMatchObject({
      id: 'webhook',
      configuration_schema: { type: 'object' },
      request_schema: true,
      instance_count: 1,
    });
    expect(caller.errorCodeOf(caller.invoke('engine::triggers::info', { id: 'nothing' }))).toBe('NOT_FOUND');
  });

  test('[wire 6.2] engine::trigger-types::list has the form of older clients', () => {
    const { caller, worker } = setUp();
    worker.provideType('webhook', { trigger_request_format: { type: 'object' } });
    expect(caller.ask('engine::trigger-types::list')).toEqual({
      trigger_types: [{ id: 'webhook', description: 'Type webhook', trigger_request_format: { type: 'object' } }],
    });
  });
});

describe('triggers', () => {
  test('[wire 4.1] A trigger is Active, Inactive or Error, and a durable one has no worker', async () => {
    const { engine, caller, worker } = setUp();
    worker.announce({ name: 'calc' });
    worker.register('math::add');
    worker.bind('active', 'engine::workers-available', 'math::add');
    worker.bind('no-function', 'engine::workers-available', 'math::sub');
    worker.bind('no-type', 'webhook', 'math::add', { config: { path: '/x' }, metadata: { a: 1 } });
    worker.bind('refused', 'engine::workers-available', 'math::add', { config: { x: 1 } });
    caller.invoke('engine::register_trigger', { trigger_type: 'webhook', function_id: 'math::add' });
    await engine.turn();
    const { registered_triggers: rows } = Object(caller.ask('engine::registered-triggers::list'));
    const byId = new Map(rows.map((row: unknown) => [Object(row).id, row]));
    const mine = { worker_name: 'calc', worker_id: worker.workerId };
    expect(byId.get('active')).toMatchObject({ status: 'Active', ...mine });
    expect(byId.get('no-function')).toMatchObject({ status: 'Inactive', ...mine });
    expect(byId.get('no-type')).toMatchObject({
      status: 'Inactive',
      trigger_type: 'webhook',
      function_id: 'math::add',
      config: { path: '/x' },
      config_summary: '{"path":"/x"}',
      metadata: { a: 1 },
      ...mine,
    });
    expect(byId.get('refused')).toMatchObject({ status: 'Error', ...mine });
    const durable = rows.find((row: unknown) => !('worker_id' in Object(row)));
    expect(durable).toMatchObject({ status: 'Inactive', worker_name: 'math', config: null });
  });

  test('[wire 6.2] The summary of a long config is cut at 80 characters', () => {
    const { caller } = setUp();
    caller.bind('t', 'webhook', 'f', { config: `é${'x'.repeat(200)}` });
    const row = caller.ask('engine::registered-triggers::info', { id: 't' });
    expect(Object(row).config_summary).toBe(`"é${'x'.repeat(78)}…`);
  });

  test.each([
    [{ trigger_type: 'timer' }, ['b']],
    [{ function_id: 'f' }, ['a']],
    [{ search: 'G' }, ['b']],
    [{ search: 'A' }, ['a']],
    [{ worker: 'calc' }, ['a', 'b']],
    [{ worker: 'missing' }, []],
    [{ include_internal: true }, ['a', 'b', 'c']],
    [{}, ['a', 'b']],
  ])('[wire 6.2] The filter %j gives %j', (filter, expected) => {
    const { caller, worker } = setUp();
    worker.announce({ name: 'calc' });
    worker.bind('a', 'webhook', 'f');
    worker.bind('b', 'timer', 'g');
    worker.bind('c', 'timer', 'engine::log::info');
    const { registered_triggers: rows } = Object(caller.ask('engine::registered-triggers::list', filter));
    expect(rows.map((row: unknown) => Object(row).id)).toEqual(expected);
  });

  test('[wire 6.2] engine::registered-triggers::info has the type and the function', () => {
    const { caller, worker } = setUp();
    worker.register('f');
    worker.provideType('webhook');
    caller.bind('t', 'webhook', 'f');
    expect(caller.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({
      id: 't',
      trigger: { id: 'webhook', instance_count: 1 },
      function: { function_id: 'f' },
    });
    expect(caller.errorCodeOf(caller.invoke('engine::registered-triggers::info', { id: 'x' }))).toBe('NOT_FOUND');
  });
});

test('[X10] A call without a caller, as of a trigger of a page, is not shown durable triggers as its own', async () => {
  const { engine, caller } = setUp();
  caller.invoke('engine::register_trigger', { trigger_type: 'webhook', function_id: 'secret', config: { path: '/x' } });
  await engine.turn();
  const policy = { expose: [], triggerTypes: new Set<string>(), sharedQueues: new Set<string>() };
  const id = 'engine::registered-triggers::list';
  const grant = { ...ANONYMOUS, allowed: new Set([id]) };
  const rights = new Access({ port: 'p', policy }, grant, engine.port.registrations);
  const answers: unknown[] = [];
  engine.port.call({ functionId: id, payload: Payload.ofText(rawJson({})), depth: 0, rights }, ({ result }) =>
    answers.push(result?.asText()),
  );
  expect(answers).toEqual(['{"registered_triggers":[]}']);
});

function setUp(): { engine: EngineInMemory; caller: TestWorker; worker: TestWorker } {
  const engine = new EngineInMemory();
  return { engine, caller: engine.connect(), worker: engine.connect() };
}
