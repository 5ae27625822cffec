import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('a fire-and-forget call', () => {
  test.each([
    ['the action void', { action: { type: 'void' } }],
    ['the action void and an id', { action: { type: 'void' }, invocation_id: 'ignored' }],
    ['no id and no action, as clients of version 0.3 mark it', {}],
    ['an id of null', { invocation_id: null }],
  ])('[V1] With %s it is delivered under an id of the engine and never answered', (_case, fields) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('mail::send');
    caller.send({ type: 'invokefunction', function_id: 'mail::send', data: { to: 'x' }, ...fields });
    const call = worker.nextCall();
    expect(call.invocation_id).toMatch(/^[\da-f-]{36}$/);
    expect(call).not.toHaveProperty('action');
    worker.result(call, 'ignored');
    worker.fail(call, { code: 'A', message: 'ignored too' });
    expect(caller.received()).toEqual([]);
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[V1] Its result and its error are not sent to the caller', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invokeVoid('f');
    caller.invokeVoid('f');
    const [first, second] = worker.received('invokefunction');
    if (first === undefined || second === undefined) throw new Error('not delivered');
    worker.result(first, 1);
    worker.fail(second, { code: 'A', message: 'b' });
    expect(caller.received()).toEqual([]);
    expect(engine.count('invocations.late_results')).toBe(0);
  });

  test('[I1] A fire-and-forget call of a built-in function is counted when it fails', () => {
    const engine = new EngineInMemory();
    engine.connect().invokeVoid('engine::workers::register', { pid: 'many' });
    expect(engine.count('invocations.void_failed')).toBe(1);
  });
});

describe('a call that is dropped', () => {
  test('[V1] Without a worker for the function it is counted, not answered', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    caller.invokeVoid('missing::home');
    expect(caller.received()).toEqual([]);
    expect(engine.count('invocations.void_dropped', 'function_not_found')).toBe(1);
  });

  test('[V1] With a full buffer of the worker it is counted, and the caller continues', () => {
    const engine = new EngineInMemory({ limits: { outboundBufferBytes: 1000, outboundCloseBytes: 5000 } });
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    worker.socket.stopReading();
    for (let call = 0; call < 10; call++) {
      caller.invokeVoid('f', 'x'.repeat(400));
      engine.flush();
    }
    expect(worker.received('invokefunction')).toHaveLength(2);
    expect(engine.count('invocations.void_dropped', 'OVERLOADED')).toBe(8);
    caller.send({ type: 'ping' });
    expect(caller.received().map(({ type }) => type)).toEqual(['pong']);
  });

  test('[V1] At the limit of calls of the engine it is counted', () => {
    const engine = new EngineInMemory({ settings: { inFlightMax: 1 } });
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invokeVoid('f');
    caller.invokeVoid('f');
    expect(worker.received('invokefunction')).toHaveLength(1);
    expect(engine.count('invocations.void_dropped', 'OVERLOADED')).toBe(1);
  });

  test('[V1] While the engine drains it is counted', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    engine.context.isDraining = true;
    caller.invokeVoid('f');
    expect(worker.received()).toEqual([]);
    expect(engine.count('invocations.void_dropped', 'SHUTTING_DOWN')).toBe(1);
  });

  test.each([
    ['a deadline out of range', { timeout_ms: 0 }, 'BAD_REQUEST'],
    ['a blank namespace', { namespace: ' ' }, 'INVALID_NAMESPACE'],
    ['another namespace', { namespace: 'shop' }, 'function_not_found'],
    ['a chain that is too deep', { baggage: 'svc.depth=64' }, 'DEPTH_EXCEEDED'],
  ])('[V1] With %s it is counted', (_case, fields, reason) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invokeVoid('f', {}, fields);
    expect([...caller.received(), ...worker.received()]).toEqual([]);
    expect(engine.count('invocations.void_dropped', reason)).toBe(1);
  });
});

describe('the limit of awaited calls', () => {
  test('[guarantees 4] A caller at its limit of awaited calls may still make fire-and-forget calls', () => {
    const engine = new EngineInMemory({ limits: { inFlightPerCaller: 1 } });
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f', 1);
    caller.invokeVoid('f', 2);
    expect(worker.received('invokefunction').map(({ data }) => data)).toEqual([1, 2]);
  });
});
