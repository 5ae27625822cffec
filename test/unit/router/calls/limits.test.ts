import { describe, expect, test } from 'vitest';
import { EngineInMemory, NO_WAITING } from '../../../support/engine/engine-in-memory.ts';

describe('calls in flight', () => {
  test('[guarantees 4] A worker at its limit is skipped, and OVERLOADED is answered if all are at their limit and none may wait', () => {
    const engine = new EngineInMemory({ limits: { inFlightPerWorker: 2 }, settings: NO_WAITING });
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('f');
    const ids = Array.from({ length: 5 }, () => caller.invoke('f'));
    const calls = [first, second].map((worker) => worker.received('invokefunction'));
    expect(calls.map((list) => list.length)).toEqual([2, 2]);
    expect(caller.errorCodeOf(ids[4] ?? '')).toBe('OVERLOADED');
    const [done] = calls[0] ?? [];
    if (done !== undefined) first.result(done, 'free again');
    caller.invoke('f');
    expect([first, second].map((worker) => worker.received().length)).toEqual([1, 0]);
  });

  test("[guarantees 4] A worker may announce a lower limit than the engine's, and no higher one", () => {
    const engine = new EngineInMemory({ limits: { inFlightPerWorker: 2 }, settings: NO_WAITING });
    const [caller, modest, boastful] = [engine.connect(), engine.connect(), engine.connect()];
    modest.announce({ max_in_flight: 1 });
    boastful.announce({ max_in_flight: 1000 });
    for (const worker of [modest, boastful]) worker.register('f');
    const ids = Array.from({ length: 4 }, () => caller.invoke('f'));
    expect([modest, boastful].map((worker) => worker.received('invokefunction').length)).toEqual([1, 2]);
    expect(caller.errorCodeOf(ids[3] ?? '')).toBe('OVERLOADED');
  });

  test.each([0, -1, 1.5])('[guarantees 4] A worker cannot announce a limit of %d', (max_in_flight) => {
    const worker = new EngineInMemory().connect();
    const message = `max_in_flight: ${max_in_flight}, expected a whole number from 1`;
    const answer = worker.answerTo(worker.invoke('engine::workers::register', { max_in_flight }));
    expect(answer.error).toEqual({ code: 'INVALID_ARGUMENTS', message });
  });

  test('[guarantees 4] A caller at its limit is refused, and others are not', () => {
    const engine = new EngineInMemory({ limits: { inFlightPerCaller: 2 } });
    const [greedy, modest, worker] = [engine.connect(), engine.connect(), engine.connect()];
    worker.register('f');
    const ids = [greedy.invoke('f'), greedy.invoke('f'), greedy.invoke('f')];
    expect(greedy.answerTo(ids[2] ?? '').error).toEqual({
      code: 'OVERLOADED',
      message: 'This connection is at its limit of 2 calls in flight',
    });
    modest.invoke('f');
    const calls = worker.received('invokefunction');
    expect(calls).toHaveLength(3);
    for (const call of calls) worker.result(call, 1);
    greedy.invoke('f');
    expect(worker.received('invokefunction')).toHaveLength(1);
  });

  test('[guarantees 4] Awaited calls are counted down however they end', () => {
    const engine = new EngineInMemory({ limits: { inFlightPerCaller: 1 } });
    const caller = engine.connect();
    const ends: ((worker: ReturnType<EngineInMemory['connect']>) => void)[] = [
      (worker) => worker.result(worker.nextCall(), 1),
      (worker) => worker.fail(worker.nextCall(), { code: 'A', message: 'b' }),
      () => engine.advance(200),
      (worker) => worker.drop(),
    ];
    for (const end of ends) {
      const worker = engine.connect();
      worker.register('f');
      const id = caller.invoke('f', {}, { timeout_ms: 100 });
      const refused = caller.invoke('f');
      expect(caller.errorCodeOf(refused)).toBe('OVERLOADED');
      end(worker);
      expect(caller.answersTo(id)).toHaveLength(1);
      if (worker.socket.isOpen) worker.drop();
    }
    // A refused call was never counted.
    for (let call = 0; call < 3; call++) expect(caller.errorCodeOf(caller.invoke('f'))).toBe('function_not_found');
  });

  test('[guarantees 4] The whole engine has a limit, and recovers from it', () => {
    const engine = new EngineInMemory({ settings: { inFlightMax: 3 } });
    const [first, second, worker] = [engine.connect(), engine.connect(), engine.connect()];
    worker.register('f');
    for (const caller of [first, second, first]) caller.invoke('f');
    const refused = second.invoke('f');
    expect(second.answerTo(refused).error).toEqual({
      code: 'OVERLOADED',
      message: 'The engine is at its limit of 3 calls in flight',
    });
    for (const call of worker.received('invokefunction')) worker.result(call, 1);
    second.invoke('f');
    expect(worker.received('invokefunction')).toHaveLength(1);
  });
});

describe('registrations', () => {
  test('[guarantees 4] One function over the limit is refused with the limit, and the worker is notified', () => {
    const engine = new EngineInMemory({ limits: { functionsPerWorker: 2 } });
    const worker = engine.connect();
    for (const id of ['a', 'b', 'c']) worker.register(id);
    expect(worker.receivedOne('registrationrejected')).toMatchObject({
      code: 'FUNCTION_NAMESPACE_CONFLICT',
      function_id: 'c',
      message: 'This connection is at its limit of 2 functions',
    });
    expect(engine.context.functions.get('c')).toBeUndefined();
    expect(engine.count('registrations.rejected')).toBe(1);
  });

  test('[guarantees 4] At the limit a worker may register its functions again, and replace one', () => {
    const engine = new EngineInMemory({ limits: { functionsPerWorker: 2 } });
    const worker = engine.connect();
    for (const id of ['a', 'b', 'a']) worker.register(id, { description: 'again' });
    worker.unregister('b');
    worker.register('c');
    expect(worker.received()).toEqual([]);
    expect(engine.context.functions.get('c')).toBeDefined();
  });

  test('[guarantees 4] One trigger over the limit is refused with the limit, and the worker is notified', () => {
    const engine = new EngineInMemory({ limits: { triggersPerWorker: 2 } });
    const worker = engine.connect();
    for (const id of ['a', 'b', 'b', 'c']) worker.bind(id, 'hook', 'f');
    expect(worker.receivedOne('triggerregistrationresult')).toEqual({
      type: 'triggerregistrationresult',
      id: 'c',
      trigger_type: 'hook',
      function_id: 'f',
      error: {
        code: 'trigger_registration_failed',
        message: 'This connection is at its limit of 2 triggers',
      },
    });
    worker.unbind('a');
    worker.bind('c', 'hook', 'f');
    expect(worker.received()).toEqual([]);
    expect([...engine.context.triggers.bindings()].map(({ id }) => id)).toEqual(['b', 'c']);
  });

  test('[guarantees 4] A trigger that another worker has taken over does not count', () => {
    const engine = new EngineInMemory({ limits: { triggersPerWorker: 1 } });
    const [old, successor] = [engine.connect(), engine.connect()];
    old.bind('a', 'hook', 'f');
    successor.bind('a', 'hook', 'f');
    old.bind('b', 'hook', 'f');
    expect([...old.received(), ...successor.received()]).toEqual([]);
  });

  test.each([
    ['engine::mine', "Ids that begin with 'engine::' belong to the engine"],
    ['engine::functions::list', "Ids that begin with 'engine::' belong to the engine"],
    ['', 'The function id must not be blank'],
    ['a\nb', 'The function id must not contain control characters'],
    ['x'.repeat(257), 'The function id is 257 bytes long, over the limit of 256'],
    ['a\ud800', 'The function id must not contain half of a surrogate pair'],
  ])('[wire 3.1] The id %j is refused with the reason, in the answer and in the log', (id, message) => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    const before = [...engine.context.functions.all()].length;
    worker.register(id);
    expect(worker.receivedOne('registrationrejected')).toMatchObject({ function_id: id, message });
    expect([...engine.context.functions.all()].length).toBe(before);
    expect(engine.logLines.join('\n')).toContain('Function registration refused');
    expect(worker.socket.isOpen).toBe(true);
  });

  test('[X16] A function that is a URL is accepted if its address may be reached, and refused with the reason if not', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('inside', { invocation: { url: 'https://10.0.0.1/' } });
    expect(worker.receivedOne('registrationrejected').message).toContain('not on the public internet');
    worker.register('outside', { invocation: { url: 'https://example.org' } });
    expect(worker.received()).toEqual([]);
    expect(['inside', 'outside'].map((id) => engine.context.functions.get(id)?.id)).toEqual([undefined, 'outside']);
  });

  test('[guarantees 4] A description of 100 000 bytes is refused with its size and the limit', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('f', { description: 'x'.repeat(100_000) });
    expect(worker.receivedOne('registrationrejected').message).toBe(
      'Description, schemas, metadata and invocation take 100000 bytes, over the limit of 65536',
    );
  });
});

describe('ids of calls', () => {
  test.each([
    ['x'.repeat(257), 'The function id is 257 bytes long, over the limit of 256'],
    ['', 'The function id must not be blank'],
    ['a\0', 'The function id must not contain control characters'],
  ])('[guarantees 4] A call of the invalid id %j is refused with BAD_REQUEST', (id, message) => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const invocationId = caller.invoke(id);
    expect(caller.answerTo(invocationId).error).toEqual({ code: 'BAD_REQUEST', message });
  });

  test('[guarantees 4] An invocation id longer than an id may be is refused under that id', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const id = 'x'.repeat(300);
    caller.send({ type: 'invokefunction', invocation_id: id, function_id: 'f', data: {} });
    expect(caller.errorCodeOf(id)).toBe('BAD_REQUEST');
  });
});
