// Written by rereading the router and asking of each pair of events: what if they come in the other order, or at the
// same moment, or one from within the other?

import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../../src/router/calls/call.ts';
import { invoke } from '../../../../src/router/calls/invoke.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('two ends of one call at the same moment', () => {
  test('[I1] The result came, then the worker left: the caller has the result', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    const call = worker.nextCall();
    worker.result(call, 'just in time');
    worker.drop();
    expect(caller.answerTo(id).result).toBe('just in time');
  });

  test('[I1] The deadline passes and the worker leaves, in either order: one answer', () => {
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

  test('[I1] The same connection is caller and worker, and leaves with both ends open', () => {
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

  test('[I1] A reused slot of the call table is not reached under the old id', () => {
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

describe('ends that cause ends', () => {
  test('[W2] Closing one slow worker fills the buffer of its caller, which is closed in turn: no caller is forgotten', () => {
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

  test('[I3] The callback of a deadline may end the next due call, and begin a new one in its place', () => {
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

  test('[W2] A worker that is notified of leaving workers is not called for its own leaving', () => {
    const engine = new EngineInMemory();
    const [watcher, other] = [engine.connect(), engine.connect()];
    watcher.register('watch');
    watcher.bind('t', 'engine::workers-available', 'watch');
    watcher.drop();
    other.drop();
    expect(engine.context.calls.openCount).toBe(0);
    expect(engine.count('triggers.failed')).toBe(0);
  });

  test('[guarantees 1.3] One whose trigger stays is reported as failed, not lost', () => {
    const engine = new EngineInMemory();
    const [owner, watcher] = [engine.connect(), engine.connect()];
    watcher.register('watch');
    owner.bind('t', 'engine::workers-available', 'watch');
    watcher.drop();
    expect(engine.count('triggers.failed')).toBe(1);
  });
});

describe('reattach at odd moments', () => {
  test('[W3] After the replay and not before it: what was registered stays', () => {
    const engine = new EngineInMemory();
    const [old, caller] = [engine.connect(), engine.connect()];
    replay(old);
    const successor = engine.connect();
    replay(successor);
    successor.reattach(old);
    expect(old.socket.isOpen).toBe(false);
    expectReplayed(engine, successor, caller);
  });

  test('[W3] In the middle of the replay', () => {
    const engine = new EngineInMemory();
    const [old, caller] = [engine.connect(), engine.connect()];
    replay(old);
    const successor = engine.connect();
    successor.register('f');
    successor.reattach(old);
    replay(successor);
    expectReplayed(engine, successor, caller);
  });

  test('[wire 1.9] Of a chain of three connections only the last is left', () => {
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

  test('[wire 1.9] Two connections that know each other’s token: the replaced one cannot replace the other', () => {
    const engine = new EngineInMemory();
    const [first, second] = [engine.connect(), engine.connect()];
    first.reattach(second);
    second.reattach(first);
    expect([first.socket.isOpen, second.socket.isOpen]).toEqual([true, false]);
  });

  test('[wire 1.9] While calls of the old connection are being written to it', () => {
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

describe('triggers at odd moments', () => {
  test('[wire 4.3] A verdict on a binding that was replaced by one of another type is not believed', () => {
    const engine = new EngineInMemory();
    const [owner, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    first.provideType('webhook');
    second.provideType('timer');
    owner.bind('t', 'webhook', 'f');
    const old = first.receivedOne('registertrigger');
    owner.bind('t', 'timer', 'f');
    first.judge(old, { code: 'no', message: 'late' });
    expect(owner.received()).toEqual([]);
    expect(engine.context.triggers.binding('t')).toMatchObject({ type: 'timer', state: 'bound' });
  });

  test('[wire 4.3] A verdict of a provider that has left is not believed, even if it is back', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    const binding = provider.receivedOne('registertrigger');
    provider.drop();
    const returned = engine.connect();
    returned.judge(binding, { code: 'no', message: 'before the type is there again' });
    expect(engine.context.triggers.binding('t')?.state).toBe('parked');
    returned.provideType('webhook');
    expect(engine.context.triggers.binding('t')?.state).toBe('bound');
  });

  test('[wire 4.2] A worker that provides the type of its own trigger leaves: both go, and no frame is sent', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.provideType('webhook');
    worker.bind('t', 'webhook', 'f');
    worker.drop();
    expect([...engine.context.triggers.bindings()]).toEqual([]);
    expect(engine.context.triggers.type('webhook')).toBeUndefined();
  });

  test('[wire 4.1] A refused trigger that is registered again with a good config is bound', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('f');
    worker.bind('t', 'engine::workers-available', 'f', { config: { x: 1 } });
    worker.received();
    worker.bind('t', 'engine::workers-available', 'f');
    expect(worker.received()).toEqual([]);
    expect(worker.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({ status: 'Active' });
  });

  test('[wire 4.2] A type that its provider withdraws and offers again in one turn loses nothing', () => {
    const engine = new EngineInMemory();
    const [owner, provider] = [engine.connect(), engine.connect()];
    provider.provideType('webhook');
    owner.bind('t', 'webhook', 'f');
    provider.received();
    provider.send({ type: 'unregistertriggertype', id: 'webhook' });
    provider.provideType('webhook');
    expect(provider.received('registertrigger')).toHaveLength(1);
    expect(engine.context.triggers.binding('t')?.state).toBe('bound');
  });
});

describe('one frame that asks for much', () => {
  test('Frames at the limit of nesting in every payload field do no harm', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    const deep = `${'['.repeat(127)}${']'.repeat(127)}`;
    worker.send(`{"type":"registerfunction","id":"f","request_format":${deep},"metadata":${deep}}`);
    caller.send(`{"type":"registertrigger","id":"t","trigger_type":"x","function_id":"f","config":${deep}}`);
    caller.send(`{"type":"invokefunction","invocation_id":"i","function_id":"f","data":${deep},"metadata":${deep}}`);
    const call = worker.nextCall();
    worker.send(`{"type":"invocationresult","invocation_id":"${call.invocation_id}","error":${deep}}`);
    expect(caller.errorCodeOf('i')).toBe('invocation_failed');
    caller.ask('engine::functions::info', { function_id: 'f' });
    caller.ask('engine::registered-triggers::info', { id: 't' });
    expect(engine.count('frames.refused')).toBe(0);
  });

  test('[guarantees 4] Lists that nest deeper than a frame may, because they hold such payloads, are still answered', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    caller.send(`{"type":"registerfunction","id":"f","metadata":${'['.repeat(127)}${']'.repeat(127)}}`);
    expect(caller.ask('engine::functions::list')).toMatchObject({ functions: [{ function_id: 'f' }] });
  });
});

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
