import { describe, expect, test } from 'vitest';
import { EngineInMemory, NO_WAITING } from '../../../support/engine/engine-in-memory.ts';

describe('the worker leaves while it runs a call', () => {
  test('[I4] Each of its callers gets invocation_stopped at once', () => {
    const engine = new EngineInMemory();
    const [first, second, worker] = [engine.connect(), engine.connect(), engine.connect()];
    worker.register('f');
    const ids = [first.invoke('f'), first.invoke('f')];
    const other = second.invoke('f');
    worker.received();
    worker.drop();
    for (const id of ids) {
      expect(first.answerTo(id)).toMatchObject({
        function_id: 'f',
        error: {
          code: 'invocation_stopped',
          message: "Invocation stopped: the worker's connection ended; whether it took effect is unknown",
        },
      });
    }
    expect(second.errorCodeOf(other)).toBe('invocation_stopped');
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[I4] They are answered when the engine closes the worker as silent', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f', {}, { timeout_ms: 60_000 });
    engine.advance(20_000);
    caller.sign();
    engine.advance(6000);
    expect(worker.socket.farewell).toBe('terminated');
    expect(caller.errorCodeOf(id)).toBe('invocation_stopped');
  });

  test('[I4] They are answered when the engine closes the worker as too slow', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect({ limits: { outboundCloseBytes: 100 } })];
    worker.register('f');
    worker.socket.stopReading();
    const id = caller.invoke('f', 'x'.repeat(200));
    engine.flush();
    expect(worker.socket.farewell).toMatchObject({ code: 4408 });
    expect(caller.errorCodeOf(id)).toBe('invocation_stopped');
  });

  test('[I4] A worker that calls itself leaves no open call', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('f');
    worker.invoke('f');
    worker.drop();
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[I4] An answered call is not answered again', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    worker.result(worker.nextCall(), 'done');
    worker.drop();
    expect(caller.answerTo(id).result).toBe('done');
  });

  test('[I4] A fire-and-forget call gets no answer', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invokeVoid('f');
    worker.drop();
    expect(caller.received()).toEqual([]);
    expect(engine.context.calls.openCount).toBe(0);
  });
});

describe('the caller leaves while its call runs', () => {
  test('[I5] The handler keeps running, and its result is dropped', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f');
    const call = worker.nextCall();
    caller.drop();
    expect(worker.received()).toEqual([]);
    expect(engine.context.calls.openCount).toBe(1);
    worker.result(call, 'unused');
    expect(engine.context.calls.openCount).toBe(0);
    expect(worker.socket.isOpen).toBe(true);
  });

  test('[I5] The call counts as in flight for the worker until the result', () => {
    const engine = new EngineInMemory({ settings: NO_WAITING });
    const [caller, worker] = [engine.connect(), engine.connect({ limits: { inFlightPerWorker: 1 } })];
    const other = engine.connect();
    worker.register('f');
    caller.invoke('f');
    const call = worker.nextCall();
    caller.drop();
    const refused = other.invoke('f');
    expect(other.errorCodeOf(refused)).toBe('OVERLOADED');
    worker.result(call, 'unused');
    other.invoke('f');
    expect(worker.received('invokefunction')).toHaveLength(1);
  });

  test('[I5] If the worker leaves too, in either order, no call is open', () => {
    for (const order of [0, 1]) {
      const engine = new EngineInMemory();
      const [caller, worker] = [engine.connect(), engine.connect()];
      worker.register('f');
      caller.invoke('f');
      for (const one of order === 0 ? [caller, worker] : [worker, caller]) one.drop();
      expect(engine.context.calls.openCount).toBe(0);
      expect(engine.context.sessions.size).toBe(0);
    }
  });

  test('[I5] The call ends at its deadline', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f', {}, { timeout_ms: 1000 });
    caller.drop();
    engine.advance(1100);
    expect(engine.context.calls.openCount).toBe(0);
    worker.result(worker.nextCall(), 'late');
    expect(engine.count('invocations.late_results')).toBe(1);
  });
});
