import { describe, expect, test } from 'vitest';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { addTriggerType } from '../../../support/engine/module-trigger-type.ts';

describe('the notices of a module about triggers of its type', () => {
  test('[modules 1.6] It gets an accepted trigger with its config, and its removal', () => {
    const engine = new EngineInMemory();
    const type = addTriggerType(engine, 'tick');
    const worker = engine.connect();
    worker.bind('t', 'tick', 'f', { config: { every: 5 } });
    expect([...type.bindings].map(({ id, functionId }) => [id, functionId])).toEqual([['t', 'f']]);
    expect(type.configs).toEqual([{ every: 5 }]);
    worker.unbind('t');
    expect(type.story).toEqual(['+t', '-t']);
  });

  test('[W2] It gets the removal of the triggers of a closed connection', () => {
    const engine = new EngineInMemory();
    const type = addTriggerType(engine, 'tick');
    const [worker, other] = [engine.connect(), engine.connect()];
    worker.bind('a', 'tick', 'f');
    worker.bind('b', 'tick', 'f');
    other.bind('c', 'tick', 'f');
    worker.drop();
    expect([...type.bindings].map(({ id }) => id)).toEqual(['c']);
    expect(type.story).toEqual(['+a', '+b', '+c', '-a', '-b']);
  });

  test('[wire 4.1] The removal of a replaced trigger comes before the new one', () => {
    const engine = new EngineInMemory();
    const type = addTriggerType(engine, 'tick');
    const worker = engine.connect();
    worker.bind('t', 'tick', 'f');
    worker.bind('t', 'tick', 'g');
    expect(type.story).toEqual(['+t', '-t', '+t']);
    expect([...type.bindings].map(({ functionId }) => functionId)).toEqual(['g']);
  });

  test('[wire 4.5] It gets the removal of a trigger whose id another type takes', () => {
    const engine = new EngineInMemory();
    const [tick, tock] = [addTriggerType(engine, 'tick'), addTriggerType(engine, 'tock')];
    const worker = engine.connect();
    worker.bind('t', 'tick', 'f');
    worker.bind('t', 'tock', 'f');
    expect([tick.story, tock.story]).toEqual([['+t', '-t'], ['+t']]);
  });

  test('[modules 1.6] It gets no notice of a trigger that it refused', () => {
    const engine = new EngineInMemory();
    const type = addTriggerType(engine, 'tick');
    const worker = engine.connect();
    worker.bind('t', 'tick', 'f', { config: { bad: true } });
    worker.unbind('t');
    expect(type.story).toEqual([]);
  });

  test('[PD-51] It gets durable triggers too', async () => {
    const engine = new EngineInMemory();
    const type = addTriggerType(engine, 'tick');
    const id = await engine.port.bindDurable({ type: 'tick', functionId: 'f', config: {}, metadata: undefined });
    engine.port.unbindDurable(id);
    expect(type.story).toEqual([`+${id}`, `-${id}`]);
  });
});

describe('an event of a module', () => {
  test('[modules 1.6] Calls every bound function, with payload, metadata and cause', () => {
    const engine = new EngineInMemory();
    const type = addTriggerType(engine, 'tick');
    const worker = engine.connect({ ownSdk: true });
    worker.register('f');
    worker.bind('t', 'tick', 'f', { metadata: { tenant: 'é' } });
    engine.port.fire(type.bindings, Payload.ofText(rawJson({ n: 'ü' })), { depth: 0 });
    expect(worker.nextCall()).toMatchObject({
      function_id: 'f',
      data: { n: 'ü' },
      metadata: { tenant: 'é' },
      trigger: { type: 'tick', id: 't' },
    });
  });

  test('[PD-26] Calls replicas with equal triggers once', () => {
    const engine = new EngineInMemory();
    const type = addTriggerType(engine, 'tick');
    const replicas = [engine.connect(), engine.connect()];
    for (const [index, replica] of replicas.entries()) {
      replica.register('f');
      replica.bind(`t${index}`, 'tick', 'f');
    }
    engine.port.fire(type.bindings, Payload.ofText(rawJson({})), { depth: 0 });
    expect(replicas.flatMap((replica) => replica.received('invokefunction'))).toHaveLength(1);
  });

  test('[I8] Fails the trigger at depth 64, which is shown, counted and logged', () => {
    const engine = new EngineInMemory();
    const type = addTriggerType(engine, 'tick');
    const worker = engine.connect({ ownSdk: true });
    worker.register('f');
    worker.bind('t', 'tick', 'f');
    engine.port.fire(type.bindings, Payload.ofText(rawJson({})), { depth: 63 });
    expect(worker.nextCall()).toMatchObject({ baggage: 'svc.depth=64' });
    engine.port.fire(type.bindings, Payload.ofText(rawJson({})), { depth: 64 });
    expect(worker.received()).toEqual([]);
    expect(worker.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({
      status: 'Error',
      error: expect.stringContaining('DEPTH_EXCEEDED'),
    });
    expect(engine.count('triggers.failed')).toBe(1);
  });
});

describe('a call that a module makes', () => {
  test('[I1] It gets the result, once', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('auth');
    const outcomes: unknown[] = [];
    engine.port.call({ functionId: 'auth', payload: Payload.ofText(rawJson({ token: 't' })), depth: 0 }, (outcome) =>
      outcomes.push(outcome.result?.asText()),
    );
    const call = worker.nextCall();
    worker.result(call, { context: null });
    worker.result(call, { context: 'late' });
    expect(outcomes).toEqual(['{"context":null}']);
  });

  test('[I3] It ends at its deadline', () => {
    const engine = new EngineInMemory();
    engine.connect().register('auth');
    const outcomes: unknown[] = [];
    engine.port.call(
      { functionId: 'auth', payload: Payload.ofText(rawJson({})), depth: 0, timeoutMs: 5_000 },
      (outcome) => outcomes.push(outcome.error?.asText()),
    );
    engine.advance(5_050);
    expect(outcomes).toEqual([expect.stringContaining('TIMEOUT')]);
  });

  test('[modules 1.4] It gets the error at once if no worker offers the function', () => {
    const engine = new EngineInMemory();
    const outcomes: unknown[] = [];
    engine.port.call({ functionId: 'auth', payload: Payload.ofText(rawJson({})), depth: 0 }, (outcome) =>
      outcomes.push(outcome.error?.asText()),
    );
    expect(outcomes).toEqual([expect.stringContaining('function_not_found')]);
  });
});
