import { describe, expect, test } from 'vitest';
import { depthOf } from '../../../../src/core/calls/call-depth.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('a chain of calls', () => {
  test('[I8] A function that calls itself without end is stopped after 64 hand-overs', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('loop');
    caller.invoke('loop');
    let handOvers = 0;
    let last = '';
    for (let [call] = worker.received(); call?.type === 'invokefunction'; [call] = worker.received()) {
      handOvers++;
      expect(depthOf(String(call.baggage))).toBe(handOvers);
      // What every SDK does: the handler's own calls carry the baggage it was called with.
      last = worker.invoke('loop', {}, { baggage: call.baggage });
    }
    expect(handOvers).toBe(64);
    expect(worker.answerTo(last).error).toEqual({
      code: 'DEPTH_EXCEEDED',
      message: 'Call of loop refused: the chain of calls is 64 deep, the limit is 64',
    });
  });

  test('[I8] Two functions that call each other are stopped in the same way', () => {
    const engine = new EngineInMemory();
    const [caller, ping, pong] = [engine.connect(), engine.connect(), engine.connect()];
    ping.register('ping');
    pong.register('pong');
    caller.invokeVoid('ping');
    let handOvers = 0;
    for (
      let [from, to, name] = [ping, pong, 'pong'];
      ;
      [from, to, name] = [to, from, name === 'pong' ? 'ping' : 'pong']
    ) {
      const [call] = from.received();
      if (call === undefined) break;
      handOvers++;
      from.invokeVoid(name, {}, { baggage: call.baggage });
    }
    expect(handOvers).toBe(64);
    expect(engine.count('invocations.void_dropped', 'DEPTH_EXCEEDED')).toBe(1);
  });

  test.each([
    [undefined, 'svc.depth=1'],
    ['tenant=acme', 'tenant=acme,svc.function.id=math%3A%3Aadd,svc.depth=1'],
    ['svc.depth=63', 'svc.depth=64,svc.function.id=math%3A%3Aadd'],
    ['a=1, svc.depth=7 ,b=2;c=3', 'a=1, svc.depth=8,b=2;c=3,svc.function.id=math%3A%3Aadd'],
    ['svc.function.id=old,k=v', 'svc.function.id=math%3A%3Aadd,k=v,svc.depth=1'],
  ])('[I8] The baggage %j is passed on as %j', (baggage, expected) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('math::add');
    caller.invoke('math::add', {}, { baggage });
    expect(worker.nextCall().baggage).toBe(expected);
  });

  test.each([64, 65, 1e6])('[I8] A call of depth %d is refused', (depth) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f', {}, { baggage: `a=b,svc.depth=${depth}` });
    expect(caller.errorCodeOf(id)).toBe('DEPTH_EXCEEDED');
    expect(worker.received()).toEqual([]);
  });

  test('[I8] Built-in functions have the same limit', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const id = caller.invoke('engine::functions::list', {}, { baggage: 'svc.depth=64' });
    expect(caller.errorCodeOf(id)).toBe('DEPTH_EXCEEDED');
  });

  test('[I8] Independent calls do not add up', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    for (let call = 0; call < 100; call++) caller.invoke('f');
    const depths = worker.received('invokefunction').map((call) => depthOf(String(call.baggage)));
    expect(new Set(depths)).toEqual(new Set([1]));
  });
});

describe('the trace of a call', () => {
  test('[wire 5.5] The trace of the caller is passed to the worker, with the name of the function', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const id = caller.invoke('f', {}, { traceparent, metadata: { tenant: 'acme' } });
    const call = worker.nextCall();
    expect(call).toMatchObject({
      traceparent,
      metadata: { tenant: 'acme' },
      baggage: 'svc.function.id=f,svc.depth=1',
    });
    worker.result(call, 1, { traceparent, baggage: 'k=v' });
    expect(caller.answerTo(id)).toMatchObject({ traceparent, baggage: 'k=v' });
  });

  test('[wire 2.1] Fields that the caller did not send are absent, not null', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f', {}, { traceparent: null, metadata: null, baggage: null });
    expect(Object.keys(worker.nextCall()).sort()).toEqual(['baggage', 'data', 'function_id', 'invocation_id', 'type']);
  });
});
