import { describe, expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

/**
 * The registrations that a client repeats after every connect. Its old connection may end between any two of them.
 */
const REPLAY: readonly ((worker: TestWorker) => void)[] = [
  (worker) => worker.provideType('hook'),
  (worker) => worker.register('f'),
  (worker) => worker.register('g'),
  (worker) => worker.bind('own', 'hook', 'f', { config: { path: '/own' } }),
  (worker) => worker.bind('event', 'engine::workers-available', 'f'),
  (worker) => worker.announce({ name: 'calc' }),
];

describe('a worker that reconnects', () => {
  test.each(Array.from({ length: REPLAY.length + 1 }, (_, place) => place))(
    '[W3] It keeps all registrations if the old connection ends before step %d of the replay',
    (place) => {
      const { engine, old, caller } = workerWithEverything();
      const successor = engine.connect();
      for (const [step, replay] of REPLAY.entries()) {
        if (step === place) old.drop();
        replay(successor);
      }
      if (place === REPLAY.length) old.drop();
      expectEverythingAt(engine, successor, caller);
    },
  );

  test('[W3] It keeps all registrations if the old connection ends first', () => {
    const { engine, old, caller } = workerWithEverything();
    old.drop();
    const successor = engine.connect();
    for (const replay of REPLAY) replay(successor);
    expectEverythingAt(engine, successor, caller);
  });

  test('[W3] The late end of a silent old connection does not affect the new one', () => {
    const { engine, old, caller } = workerWithEverything();
    engine.advance(10_000);
    const successor = engine.connect();
    for (const replay of REPLAY) replay(successor);
    caller.sign();
    engine.advance(16_500);
    expect(old.socket.farewell).toBe('terminated');
    expectEverythingAt(engine, successor, caller);
  });

  test('[W3] The new connection gets the calls while the old one still exists', () => {
    const { engine, old, caller } = workerWithEverything();
    const successor = engine.connect();
    successor.register('f');
    for (let call = 0; call < 4; call++) caller.invoke('f', 'mine');
    const shares = [old, successor].map((worker) => worker.received().filter(({ data }) => data === 'mine').length);
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(shares[0] ?? 0).toBeLessThanOrEqual(shares[1] ?? 0);
  });

  test('[W3] A reattach closes the old connection before the replay', () => {
    const { engine, old, caller } = workerWithEverything();
    const successor = engine.connect();
    successor.reattach(old);
    expect(old.socket.farewell).toMatchObject({ code: 4400 });
    expect(engine.context.functions.get('f')).toBeUndefined();
    for (const replay of REPLAY) replay(successor);
    expectEverythingAt(engine, successor, caller);
    old.drop();
    expectEverythingAt(engine, successor, caller);
  });

  test('[W3] With `reject_duplicates` a reattach frees its ids', () => {
    const engine = new EngineInMemory({ balance: 'reject_duplicates' });
    const old = engine.connect();
    old.register('f');
    const successor = engine.connect();
    successor.reattach(old);
    successor.register('f');
    expect(successor.received()).toEqual([]);
    expect(engine.context.functions.get('f')).toMatchObject({ executors: { length: 1 } });
  });

  test('[wire 1.9] A reattach stops the calls of the old connection and closes it with the reason', () => {
    const { engine, old, caller } = workerWithEverything();
    const id = caller.invoke('f');
    const successor = engine.connect();
    successor.reattach(old);
    expect(caller.errorCodeOf(id)).toBe('invocation_stopped');
    expect(old.socket.farewell).toEqual({
      code: 4400,
      reason: 'replaced by a newer connection of the same worker',
    });
  });
});

describe('a reattach that is not proven', () => {
  test.each([
    ['a wrong token', (old: TestWorker) => ({ previous_worker_id: old.workerId, reattach_token: 'guess' })],
    ['an unknown token', (old: TestWorker) => ({ previous_worker_id: old.workerId, reattach_token: '' })],
    ['no token', (old: TestWorker) => ({ previous_worker_id: old.workerId })],
    ['a token of null', (old: TestWorker) => ({ previous_worker_id: old.workerId, reattach_token: null })],
    ['an unknown id', (old: TestWorker) => ({ previous_worker_id: 'missing', reattach_token: old.reattachToken })],
    ['a strange id', (old: TestWorker) => ({ previous_worker_id: '__proto__', reattach_token: old.reattachToken })],
  ])('[wire 1.9] With %s it is ignored, and both connections stay', (_case, fieldsOf) => {
    const { engine, old, caller } = workerWithEverything();
    const outsider = engine.connect();
    outsider.send({ type: 'reattach', ...fieldsOf(old) });
    expect(outsider.received()).toEqual([]);
    expect([outsider.socket.isOpen, old.socket.isOpen]).toEqual([true, true]);
    expect(engine.count('reattach.refused')).toBe(1);
    expectEverythingAt(engine, old, caller);
  });

  test('[wire 1.9] A connection cannot replace itself', () => {
    const { engine, old, caller } = workerWithEverything();
    old.reattach(old);
    expectEverythingAt(engine, old, caller);
  });

  test('[wire 1.9] A token works once: the second successor finds no connection to replace', () => {
    const { engine, old } = workerWithEverything();
    const [first, second] = [engine.connect(), engine.connect()];
    first.reattach(old);
    second.reattach(old);
    expect([first.socket.isOpen, second.socket.isOpen]).toEqual([true, true]);
    expect(engine.count('reattach.refused')).toBe(1);
  });
});

describe('reattach at unusual moments', () => {
  test('[W3] A reattach after the registrations keeps them', () => {
    const engine = new EngineInMemory();
    const [old, caller] = [engine.connect(), engine.connect()];
    replay(old);
    const successor = engine.connect();
    replay(successor);
    successor.reattach(old);
    expect(old.socket.isOpen).toBe(false);
    expectReplayed(engine, successor, caller);
  });

  test('[W3] A reattach between the registrations keeps them', () => {
    const engine = new EngineInMemory();
    const [old, caller] = [engine.connect(), engine.connect()];
    replay(old);
    const successor = engine.connect();
    successor.register('f');
    successor.reattach(old);
    replay(successor);
    expectReplayed(engine, successor, caller);
  });

  test('[wire 1.9] Of three connections that reattach in turn, the last stays', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const chain = [engine.connect(), engine.connect(), engine.connect()];
    let previous: TestWorker | undefined;
    for (const worker of chain) {
      if (previous !== undefined) worker.reattach(previous);
      replay(worker);
      previous = worker;
    }
    expect(chain.map((worker) => worker.socket.isOpen)).toEqual([false, false, true]);
    if (previous !== undefined) expectReplayed(engine, previous, caller);
  });

  test('[wire 1.9] A replaced connection cannot replace its successor', () => {
    const engine = new EngineInMemory();
    const [first, second] = [engine.connect(), engine.connect()];
    first.reattach(second);
    second.reattach(first);
    expect([first.socket.isOpen, second.socket.isOpen]).toEqual([true, false]);
  });

  test('[wire 1.9] A call of the same turn to the replaced connection is stopped', () => {
    const engine = new EngineInMemory();
    const [old, caller] = [engine.connect(), engine.connect()];
    old.register('f');
    const id = caller.invoke('f');
    const successor = engine.connect();
    // Still in the turn of the call: nothing has left yet, and nothing may leave after the close frame.
    successor.send({ type: 'reattach', previous_worker_id: old.workerId, reattach_token: old.reattachToken });
    expect(caller.errorCodeOf(id)).toBe('invocation_stopped');
    expect(successor.received()).toEqual([]);
  });
});

describe('two workers with one name', () => {
  test('[W3] They coexist, and each keeps its registrations', () => {
    const engine = new EngineInMemory();
    const twins = [engine.connect(), engine.connect()];
    const caller = engine.connect();
    for (let round = 0; round < 3; round++) {
      for (const twin of twins) {
        twin.announce({ name: 'calc' });
        twin.register('f');
        twin.bind(`t-${twin.workerId}`, 'hook', 'f');
      }
      engine.advance(5000);
      for (const one of [...twins, caller]) one.sign();
    }
    expect(twins.map((twin) => twin.socket.isOpen)).toEqual([true, true]);
    for (let call = 0; call < 4; call++) caller.invoke('f');
    expect(twins.map((twin) => twin.received('invokefunction').length)).toEqual([2, 2]);
    expect([...engine.context.triggers.bindings()]).toHaveLength(2);
  });

  test('[W3] A function stays callable while one of them reconnects all the time', () => {
    const engine = new EngineInMemory();
    const [steady, caller] = [engine.connect(), engine.connect()];
    steady.announce({ name: 'calc' });
    steady.register('f');
    for (let round = 0; round < 20; round++) {
      const flapping = engine.connect();
      flapping.announce({ name: 'calc' });
      flapping.register('f');
      flapping.drop();
      const id = caller.invoke('f');
      steady.result(steady.nextCall(), round);
      expect(caller.answerTo(id).result).toBe(round);
    }
  });
});

function workerWithEverything(): { engine: EngineInMemory; old: TestWorker; caller: TestWorker } {
  const engine = new EngineInMemory();
  const [old, caller] = [engine.connect(), engine.connect()];
  for (const replay of REPLAY) replay(old);
  old.received();
  return { engine, old, caller };
}

function expectEverythingAt(engine: EngineInMemory, worker: TestWorker, caller: TestWorker): void {
  worker.received();
  for (const functionId of ['f', 'g']) {
    const id = caller.invoke(functionId);
    const call = worker.received().find((frame) => frame.function_id === functionId);
    if (call === undefined) throw new Error(`${functionId} did not reach the worker`);
    worker.result(call, 'served');
    expect(caller.answerTo(id).result).toBe('served');
  }
  const { triggers } = engine.context;
  const bindings = [...triggers.bindings()].map(({ id, state, owner }) => [id, state, owner?.workerId]);
  expect(bindings.sort()).toEqual([
    ['event', 'bound', worker.workerId],
    ['own', 'bound', worker.workerId],
  ]);
  const provider = triggers.type('hook')?.provider;
  expect(provider?.kind === 'worker' && provider.executor.workerId).toBe(worker.workerId);
  expect(caller.ask('engine::workers::info', { name: 'calc' })).toMatchObject({ worker: { id: worker.workerId } });
}

function replay(worker: TestWorker): void {
  worker.register('f');
  worker.provideType('hook');
  worker.bind('t', 'hook', 'f');
}

function expectReplayed(engine: EngineInMemory, worker: TestWorker, caller: TestWorker): void {
  worker.received();
  const id = caller.invoke('f');
  worker.result(worker.nextCall(), 'served');
  expect(caller.answerTo(id).result).toBe('served');
  const binding = engine.context.triggers.binding('t');
  expect([binding?.state, binding?.owner?.workerId]).toEqual(['bound', worker.workerId]);
  const provider = engine.context.triggers.type('hook')?.provider;
  expect(provider?.kind === 'worker' && provider.executor.workerId).toBe(worker.workerId);
}
