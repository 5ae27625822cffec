import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../../src/router/calls/call.ts';
import { invoke } from '../../../../src/router/calls/invoke.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('a connection that ends', () => {
  test('[W2] Its functions, triggers and trigger types are removed', () => {
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

  test('[W2] The callback of a lost call finds everything removed', () => {
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

  test('[W2] Leave events fire after everything is removed', () => {
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

  test('[W2] It is removed once, however often its end is reported', () => {
    const engine = new EngineInMemory();
    const [watcher, worker] = [engine.connect(), engine.connect()];
    watcher.register('watch');
    watcher.bind('w', 'engine::workers-available', 'watch');
    worker.drop();
    worker.drop();
    expect(watcher.received('invokefunction')).toHaveLength(1);
  });

  test('[W2] Later frames of it are not read', () => {
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

  test('[W2] Registrations of another connection stay, even with the same ids', () => {
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

describe('connections that end other connections', () => {
  test('[W2] When the end of a slow worker closes its callers too, every waiting caller is answered', () => {
    const engine = new EngineInMemory();
    const tight = { limits: { outboundCloseBytes: 2000, outboundBufferBytes: 2000 } };
    const [first, second, worker] = [engine.connect(tight), engine.connect(tight), engine.connect(tight)];
    const watcher = engine.connect();
    worker.register('f');
    second.register('g');
    const lost = watcher.invoke('g');
    for (const one of [first, second, worker]) one.socket.stopReading();
    for (let call = 0; call < 9; call++) for (const caller of [first, second]) caller.invoke('f', 'x'.repeat(80));
    engine.flush();
    expect([first, second, worker].map((one) => one.socket.farewell)).toMatchObject([
      { code: 4408 },
      { code: 4408 },
      { code: 4408 },
    ]);
    expect(watcher.errorCodeOf(lost)).toBe('invocation_stopped');
    expect([engine.context.calls.openCount, engine.context.sessions.size]).toEqual([0, 1]);
  });

  test('[W2] The callback of a lost call may end another connection', () => {
    const engine = new EngineInMemory();
    const [first, second, caller] = [engine.connect(), engine.connect(), engine.connect()];
    first.register('f');
    second.register('g');
    const outcomes: string[] = [];
    callFromInside(engine, 'f', () => {
      outcomes.push('f');
      second.drop();
    });
    callFromInside(engine, 'g', () => outcomes.push('g'));
    const ids = [caller.invoke('f'), caller.invoke('g')];
    first.drop();
    expect(outcomes).toEqual(['f', 'g']);
    expect(ids.map((id) => caller.errorCodeOf(id))).toEqual(['invocation_stopped', 'invocation_stopped']);
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[I3] The callback of a deadline may end the next due call and make a new one', () => {
    const engine = new EngineInMemory();
    const [first, second, third] = [engine.connect(), engine.connect(), engine.connect()];
    first.register('f');
    second.register('g');
    third.register('h');
    const outcomes: string[] = [];
    const note = (name: string) => (outcome: Outcome) =>
      outcomes.push(`${name} ${(outcome.error ?? outcome.result)?.asText()}`);
    callFromInside(engine, 'f', (outcome) => {
      note('f')(outcome);
      second.drop();
      callFromInside(engine, 'h', note('h'));
    });
    callFromInside(engine, 'g', note('g'));
    engine.advance(1100);
    expect(outcomes.map((text) => text.replace(/^(\w) .*"code":"(\w+)".*$/, '$1 $2'))).toEqual([
      'f TIMEOUT',
      'g invocation_stopped',
    ]);
    third.result(third.nextCall(), 'in time');
    expect(outcomes.at(-1)).toBe('h "in time"');
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[W2] A handler of engine::workers-available is not called when its own worker leaves', () => {
    const engine = new EngineInMemory();
    const [watcher, other] = [engine.connect(), engine.connect()];
    watcher.register('watch');
    watcher.bind('t', 'engine::workers-available', 'watch');
    watcher.drop();
    other.drop();
    expect(engine.context.calls.openCount).toBe(0);
    expect(engine.count('triggers.failed')).toBe(0);
  });

  test('[guarantees 1.3] The leave event of the only handler counts as a failed trigger', () => {
    const engine = new EngineInMemory();
    const [owner, watcher] = [engine.connect(), engine.connect()];
    watcher.register('watch');
    owner.bind('t', 'engine::workers-available', 'watch');
    watcher.drop();
    expect(engine.count('triggers.failed')).toBe(1);
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

  test('[X22] The token is not logged', () => {
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

function callFromInside(engine: EngineInMemory, functionId: string, settle: (outcome: Outcome) => void): void {
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
