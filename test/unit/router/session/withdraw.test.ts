import { describe, expect, test } from 'vitest';
import { invoke } from '../../../../src/router/calls/invoke.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('a connection that is gone', () => {
  test('[W2] Its functions, triggers and trigger types are gone, and so is it', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('f');
    worker.provideType('hook');
    worker.bind('t1', 'hook', 'f');
    worker.bind('t2', 'unknown', 'f');
    worker.announce({ name: 'calc' });
    worker.drop();
    expect(engine.context.functions.get('f')).toBeUndefined();
    expect([...engine.context.triggers.bindings()]).toEqual([]);
    expect(engine.context.triggers.type('hook')).toBeUndefined();
    expect(engine.context.sessions.size).toBe(0);
    expect(engine.port.workers()).toEqual([]);
  });

  test('[W2] No observer sees the step half done: the callback of a lost call finds everything gone', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('f');
    worker.register('g');
    worker.provideType('hook');
    worker.bind('t1', 'other', 'f');
    const seen: unknown[] = [];
    for (const functionId of ['f', 'g']) callFromInside(engine, functionId, () => seen.push(whatIsLeft(engine)));
    worker.drop();
    const nothing = { functions: [], bindings: [], types: [], sessions: 0 };
    expect(seen).toEqual([nothing, nothing]);
  });

  test('[W2] Leave events come after the step, and see nothing of it', () => {
    const engine = new EngineInMemory();
    const [watcher, worker] = [engine.connect(), engine.connect()];
    watcher.register('watch');
    watcher.bind('w', 'engine::workers-available', 'watch');
    worker.register('f');
    worker.drop();
    const call = watcher.nextCall();
    expect(call.data).toEqual({ event: 'worker_disconnected', worker_id: worker.workerId });
    expect(watcher.ask('engine::functions::list')).toMatchObject({ functions: [{ function_id: 'watch' }] });
  });

  test('[W2] It happens once, however often the connection is reported to have ended', () => {
    const engine = new EngineInMemory();
    const [watcher, worker] = [engine.connect(), engine.connect()];
    watcher.register('watch');
    watcher.bind('w', 'engine::workers-available', 'watch');
    worker.drop();
    worker.drop();
    expect(watcher.received('invokefunction')).toHaveLength(1);
  });

  test('[W2] Frames that still come from it are not read', () => {
    const engine = new EngineInMemory();
    const [worker, other] = [engine.connect(), engine.connect()];
    worker.drop();
    worker.register('ghost');
    worker.send({ type: 'ping' });
    worker.reattach(other);
    expect(engine.context.functions.get('ghost')).toBeUndefined();
    expect(worker.received()).toEqual([]);
    expect(other.socket.isOpen).toBe(true);
  });

  test('[W2] Providers of other connections are notified of the triggers that left', () => {
    const engine = new EngineInMemory();
    const [provider, owner] = [engine.connect(), engine.connect()];
    provider.provideType('hook');
    owner.bind('t1', 'hook', 'f', { config: { path: '/x' }, metadata: { a: 1 } });
    provider.received();
    owner.drop();
    expect(provider.receivedOne('unregistertrigger')).toEqual({
      type: 'unregistertrigger',
      id: 't1',
      trigger_type: 'hook',
      function_id: 'f',
      config: { path: '/x' },
      metadata: { a: 1 },
    });
  });

  test('[W2] Nothing of another connection is touched, even if its ids are the same', () => {
    const engine = new EngineInMemory();
    const [caller, leaver, other] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [leaver, other]) {
      worker.register('f');
      worker.bind(`t-${worker.workerId}`, 'hook', 'f');
    }
    leaver.drop();
    const id = caller.invoke('f');
    other.result(other.nextCall(), 'here');
    expect(caller.answerTo(id).result).toBe('here');
    expect([...engine.context.triggers.bindings()].map((binding) => binding.id)).toEqual([`t-${other.workerId}`]);
  });
});

describe('the greeting', () => {
  test('[wire 1.7] It is the first frame, with an id and a token that differ for every connection', () => {
    const engine = new EngineInMemory();
    const workers = Array.from({ length: 20 }, () => engine.connect());
    const secrets = workers.flatMap((worker) => [worker.workerId, worker.reattachToken]);
    expect(new Set(secrets).size).toBe(40);
    for (const secret of secrets)
      expect(secret).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    for (const worker of workers)
      expect(worker.socket.allFrames().map(({ type }) => type)).toEqual(['workerregistered']);
  });

  test('[X22] Neither the token nor anything else secret of it is logged', () => {
    const engine = new EngineInMemory();
    const [worker, other] = [engine.connect(), engine.connect()];
    other.reattach(worker, 'wrong');
    other.reattach(worker);
    const log = engine.logLines.join('\n');
    expect(log).not.toContain(worker.reattachToken);
    expect(log).not.toContain(other.reattachToken);
  });
});

function whatIsLeft(engine: EngineInMemory): unknown {
  const { functions, triggers, sessions } = engine.context;
  return {
    functions: [...functions.all()].filter((entry) => entry.kind === 'worker').map((entry) => entry.id),
    bindings: [...triggers.bindings()],
    types: [...triggers.types()].filter((type) => type.provider.kind === 'worker'),
    sessions: sessions.size,
  };
}

function callFromInside(engine: EngineInMemory, functionId: string, settle: () => void): void {
  invoke(engine.context, {
    functionId,
    data: undefined,
    metadata: undefined,
    traceparent: undefined,
    baggage: undefined,
    depth: 0,
    timeoutMs: 1000,
    trigger: undefined,
    from: undefined,
    rights: undefined,
    caller: { settle },
    ref: '',
  });
}
