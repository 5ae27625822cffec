import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('several workers with one function', () => {
  test('[I6] Calls go to the worker with the fewest in flight, and to equal ones in turn', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const workers = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of workers) worker.register('f');
    for (let call = 0; call < 6; call++) caller.invoke('f');
    expect(workers.map((worker) => worker.received('invokefunction').length)).toEqual([2, 2, 2]);
  });

  test('[I6] A worker that has finished gets the next call', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const workers = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of workers) worker.register('f');
    for (let call = 0; call < 6; call++) caller.invoke('f');
    const [first, second, third] = workers.map((worker) => worker.received('invokefunction'));
    for (const call of second ?? []) workers[1]?.result(call, 'done');
    for (let call = 0; call < 2; call++) caller.invoke('f');
    expect([first?.length, third?.length]).toEqual([2, 2]);
    expect(workers.map((worker) => worker.received().length)).toEqual([0, 2, 0]);
  });

  test('[I6] After one has left, the others get all calls', () => {
    const engine = new EngineInMemory();
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('f');
    for (const leave of [() => second.drop(), () => first.unregister('f')]) {
      const id = caller.invoke('f');
      const [holder, call] = [first, second].flatMap((worker) =>
        worker.received('invokefunction').map((one) => [worker, one] as const),
      )[0] ?? [undefined, undefined];
      if (holder === undefined || call === undefined) throw new Error('No worker got the call');
      holder.result(call, 'served');
      expect(caller.answerTo(id).result).toBe('served');
      leave();
    }
    const id = caller.invoke('f');
    expect(caller.errorCodeOf(id)).toBe('function_not_found');
  });

  test('[I6] A worker that withdraws the function still answers its running calls', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    const call = worker.nextCall();
    worker.unregister('f');
    worker.result(call, 'still');
    expect(caller.answerTo(id).result).toBe('still');
  });

  test('[I6] A worker that registers twice counts once', () => {
    const engine = new EngineInMemory();
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    first.register('f');
    second.register('f');
    first.register('f');
    for (let call = 0; call < 4; call++) caller.invoke('f');
    expect([first, second].map((worker) => worker.received('invokefunction').length)).toEqual([2, 2]);
    first.unregister('f');
    caller.invoke('f');
    expect([first, second].map((worker) => worker.received().length)).toEqual([0, 1]);
  });

  test('[wire 3.3] No worker can withdraw the function of another', () => {
    const engine = new EngineInMemory();
    const [caller, worker, outsider] = [engine.connect(), engine.connect(), engine.connect()];
    worker.register('f');
    outsider.unregister('f');
    outsider.register('f');
    outsider.unregister('f');
    outsider.unregister('f');
    caller.invoke('f');
    expect(worker.received('invokefunction')).toHaveLength(1);
    expect(outsider.received()).toEqual([]);
  });
});

describe('other ways to balance', () => {
  test('[I6] With `newest` the last worker gets every call, and after it has left the one before it', () => {
    const engine = new EngineInMemory({ balance: 'newest' });
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('f');
    for (let call = 0; call < 3; call++) caller.invoke('f');
    expect([first, second].map((worker) => worker.received().length)).toEqual([0, 3]);
    second.drop();
    caller.received();
    caller.invoke('f');
    expect(first.received('invokefunction')).toHaveLength(1);
  });

  test('[I6] With `reject_duplicates` the second worker is refused with the reason', () => {
    const engine = new EngineInMemory({ balance: { shop: 'reject_duplicates', default: 'least_in_flight' } });
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('shop::buy');
    expect(second.receivedOne('registrationrejected')).toEqual({
      type: 'registrationrejected',
      code: 'FUNCTION_NAMESPACE_CONFLICT',
      namespace: 'default',
      owner_worker_id: '',
      function_id: 'shop::buy',
      message: "'shop::buy' is already registered by another worker, and balance is reject_duplicates",
    });
    expect(second.socket.isOpen).toBe(true);
    caller.invoke('shop::buy');
    expect(first.received('invokefunction')).toHaveLength(1);
    for (const worker of [first, second]) worker.register('other::f');
    expect([first, second].flatMap((worker) => worker.received())).toEqual([]);
  });

  test('[I6] With `reject_duplicates` an id is free after its worker has left', () => {
    const engine = new EngineInMemory({ balance: 'reject_duplicates' });
    const [first, second] = [engine.connect(), engine.connect()];
    first.register('f');
    first.drop();
    second.register('f');
    expect(second.received()).toEqual([]);
  });
});
