import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

describe('the answer to a call', () => {
  test('[I1] The caller gets the result under its own id, the worker gets an id of the engine', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('math::add');
    const id = caller.invoke('math::add', { x: 2, y: 3 });
    const call = worker.nextCall();
    expect(call).toMatchObject({ function_id: 'math::add', data: { x: 2, y: 3 } });
    expect(call.invocation_id).not.toBe(id);
    worker.result(call, { sum: 5 });
    expect(caller.receivedOne('invocationresult')).toEqual({
      type: 'invocationresult',
      invocation_id: id,
      function_id: 'math::add',
      result: { sum: 5 },
    });
  });

  test('[I1] An error of the handler reaches the caller unchanged', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    const error = { code: 'MY_CODE', message: 'no – nein', stacktrace: 'Error\n  at x', extra: [1] };
    worker.fail(worker.nextCall(), error);
    expect(caller.answerTo(id).error).toEqual(error);
  });

  test('[I1] If a worker sends a result and an error, the error counts', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    worker.result(worker.nextCall(), 'fine', { error: { code: 'A', message: 'not fine' } });
    expect(caller.answerTo(id)).not.toHaveProperty('result');
    expect(caller.errorCodeOf(id)).toBe('A');
  });

  test('[I1] Two callers with the same id each get their own answer', () => {
    const engine = new EngineInMemory();
    const [first, second, worker] = [engine.connect(), engine.connect(), engine.connect()];
    worker.register('f');
    first.send({ type: 'invokefunction', invocation_id: 'same', function_id: 'f', data: 1 });
    second.send({ type: 'invokefunction', invocation_id: 'same', function_id: 'f', data: 2 });
    const calls = worker.received('invokefunction');
    for (const call of calls.reverse()) worker.result(call, call.data);
    expect(first.answerTo('same').result).toBe(1);
    expect(second.answerTo('same').result).toBe(2);
  });

  test('[I1] A worker may call its own function', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('f');
    const id = worker.invoke('f', 'me');
    worker.result(worker.nextCall(), 'done');
    expect(worker.answerTo(id).result).toBe('done');
  });

  test('[I1] A call of a function that no worker offers is answered at once', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const id = caller.invoke('missing::home');
    expect(caller.answerTo(id)).toEqual({
      type: 'invocationresult',
      invocation_id: id,
      function_id: 'missing::home',
      error: { code: 'function_not_found', message: 'Function missing::home not found' },
    });
  });
});

describe('answers that are late, repeated or foreign', () => {
  test('[I1] A second result for the same call is dropped and counted', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    const call = worker.nextCall();
    worker.result(call, 'first');
    worker.result(call, 'second');
    worker.fail(call, { code: 'A', message: 'third' });
    expect(caller.answerTo(id).result).toBe('first');
    expect(engine.count('invocations.late_results')).toBe(2);
  });

  test('[I1] A result after the deadline is dropped and counted', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f', {}, { timeout_ms: 1000 });
    const call = worker.nextCall();
    engine.advance(1100);
    worker.result(call, 'too late');
    expect(caller.errorCodeOf(id)).toBe('TIMEOUT');
    expect(engine.count('invocations.late_results')).toBe(1);
  });

  test('[I1] A result from another connection is ignored, and the right one still counts', () => {
    const engine = new EngineInMemory();
    const [caller, worker, outsider] = [engine.connect(), engine.connect(), engine.connect()];
    worker.register('f');
    outsider.register('f2');
    const id = caller.invoke('f');
    const call = worker.nextCall();
    outsider.result(call, 'forged');
    caller.result(call, 'forged by the caller');
    expect(caller.answersTo(id)).toEqual([]);
    worker.result(call, 'real');
    expect(caller.answerTo(id).result).toBe('real');
    expect(engine.count('invocations.late_results')).toBe(2);
  });

  test('[I1] A result of another worker that offers the same function is ignored too', () => {
    const engine = new EngineInMemory();
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('f');
    const id = caller.invoke('f');
    const call = first.nextCall();
    second.result(call, 'wrong worker');
    expect(caller.answersTo(id)).toEqual([]);
    first.result(call, 'right worker');
    expect(caller.answerTo(id).result).toBe('right worker');
  });

  test('[I1] A result for a call that never existed is counted and has no effect', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    for (const invocation_id of ['', 'x', '00000000-0000-4000-8000-000000000000', '__proto__', 'x'.repeat(100_000)]) {
      worker.send({ type: 'invocationresult', invocation_id, result: 1 });
    }
    expect(engine.count('invocations.late_results')).toBe(5);
    expect(worker.received()).toEqual([]);
  });

  test('[I1] A result with a call id of an earlier connection is ignored', () => {
    const engine = new EngineInMemory();
    const [caller, old] = [engine.connect(), engine.connect()];
    old.register('f');
    const id = caller.invoke('f');
    const call = old.nextCall();
    old.drop();
    const successor = engine.connect();
    successor.register('f');
    successor.result(call, 'finished while offline');
    expect(caller.errorCodeOf(id)).toBe('invocation_stopped');
    expect(engine.count('invocations.late_results')).toBe(1);
  });
});

describe('two outcomes of one call at the same moment', () => {
  test('[I1] A worker that leaves after its result does not change the answer', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    const call = worker.nextCall();
    worker.result(call, 'just in time');
    worker.drop();
    expect(caller.answerTo(id).result).toBe('just in time');
  });

  test('[I1] A call whose deadline passes while the worker leaves gets one answer', () => {
    for (const order of [0, 1]) {
      const engine = new EngineInMemory();
      const [caller, worker] = [engine.connect(), engine.connect()];
      worker.register('f');
      const id = caller.invoke('f', {}, { timeout_ms: 100 });
      worker.received();
      if (order === 0) worker.drop();
      engine.advance(200);
      if (order === 1) worker.drop();
      expect(caller.errorCodeOf(id)).toBe(order === 0 ? 'invocation_stopped' : 'TIMEOUT');
    }
  });

  test('[I1] A connection that is caller and worker leaves no open call', () => {
    const engine = new EngineInMemory();
    const [both, other] = [engine.connect(), engine.connect()];
    both.register('f');
    other.register('g');
    const stopped = other.invoke('f');
    both.invoke('g');
    both.invoke('f');
    const orphan = other.received().find((frame) => frame.function_id === 'g');
    both.drop();
    expect(other.errorCodeOf(stopped)).toBe('invocation_stopped');
    if (orphan !== undefined) other.result(orphan, 'unused');
    expect(engine.context.calls.openCount).toBe(0);
    expect(engine.count('invocations.late_results')).toBe(0);
  });

  test('[I1] A result with the id of an earlier call does not reach the call that reuses its slot', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f');
    const old = worker.nextCall();
    worker.result(old, 1);
    const id = caller.invoke('f');
    worker.result(old, 'under the old id');
    expect(caller.answersTo(id)).toEqual([]);
    worker.result(worker.nextCall(), 2);
    expect(caller.answerTo(id).result).toBe(2);
  });
});

describe('workers and callers in random order', () => {
  test('[I1] Every call of a connected caller is answered exactly once', () => {
    forEachSeed(25, (random) => {
      const engine = new EngineInMemory({ random, limits: { inFlightPerWorker: 3, inFlightPerCaller: 8 } });
      const caller = engine.connect();
      let workers = Array.from({ length: 3 }, () => engine.connect());
      for (const worker of workers) worker.register('f');
      const ids: string[] = [];
      for (let step = 0; step < 120; step++) {
        const worker = random.pick(workers);
        const dice = random.below(10);
        if (dice < 5) ids.push(caller.invoke('f', step, { timeout_ms: random.between(1, 400) }));
        else if (dice < 8) for (const call of worker.received()) if (random.chance(70)) worker.result(call, step);
        if (dice === 8) engine.advance(random.between(1, 300));
        if (dice === 9) {
          worker.drop();
          const successor = engine.connect();
          workers = [...workers.filter((one) => one !== worker), successor];
          if (random.chance(80)) successor.register('f');
        }
      }
      engine.advance(1000);
      const answered = caller.socket.allFrames().map((frame) => frame.invocation_id);
      expect(answered.slice(1).sort()).toEqual(ids.sort());
      expect(engine.context.calls.openCount).toBe(0);
      for (const session of engine.context.sessions.values()) {
        expect([session.inFlight, session.callsAwaited]).toEqual([0, 0]);
      }
    });
  });
});
