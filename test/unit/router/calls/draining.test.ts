import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('calls while the engine drains', () => {
  test('[guarantees 3.3] New calls are refused with SHUTTING_DOWN', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    engine.context.isDraining = true;
    expect(caller.answerTo(caller.invoke('f')).error).toEqual({
      code: 'SHUTTING_DOWN',
      message: 'The engine is shutting down and takes no new calls',
    });
    expect(worker.received()).toEqual([]);
  });

  test('[guarantees 3.3] Functions of the engine answer until the end', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    engine.context.isDraining = true;
    expect(caller.ask('engine::functions::list')).toEqual({ functions: [] });
  });

  test('[guarantees 3.3] Running calls may finish, and are answered', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    engine.context.isDraining = true;
    worker.result(worker.nextCall(), 'finished');
    expect(caller.answerTo(id).result).toBe('finished');
  });

  test('[guarantees 3.3] Running calls may make more calls, with and without a depth in their baggage', () => {
    const engine = new EngineInMemory();
    const [caller, outer, inner] = [engine.connect(), engine.connect(), engine.connect()];
    outer.register('outer');
    inner.register('inner');
    caller.invoke('outer');
    const call = outer.nextCall();
    engine.context.isDraining = true;
    outer.invoke('inner', 1, { baggage: call.baggage });
    outer.invoke('inner', 2);
    expect(inner.received('invokefunction').map(({ data }) => data)).toEqual([1, 2]);
    outer.result(call, 'done');
    expect(outer.errorCodeOf(outer.invoke('inner', 3))).toBe('SHUTTING_DOWN');
  });

  test('[V1] New fire-and-forget calls are dropped', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f');
    const call = worker.nextCall();
    engine.context.isDraining = true;
    worker.invokeVoid('f', {}, { baggage: call.baggage });
    expect(worker.received()).toEqual([]);
    expect(engine.count('invocations.void_dropped', 'SHUTTING_DOWN')).toBe(1);
  });

  test('[guarantees 3.3] Triggers do not fire', () => {
    const engine = new EngineInMemory();
    const watcher = engine.connect();
    watcher.register('watch');
    watcher.bind('t', 'engine::workers-available', 'watch');
    engine.context.isDraining = true;
    engine.connect();
    expect(watcher.received()).toEqual([]);
  });

  test('[I1] A function that does not exist is still reported as missing', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    engine.context.isDraining = true;
    expect(caller.errorCodeOf(caller.invoke('missing'))).toBe('function_not_found');
  });

  test('[PD-49] Functions and workers are shown as draining', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.register('f');
    engine.context.isDraining = true;
    const entry = engine.port.functionEntry('f');
    expect(entry === undefined ? undefined : engine.port.functionRow(entry).status).toBe('draining');
    expect(engine.port.workers().map((session) => engine.port.workerRow(session).status)).toEqual(['draining']);
  });

  test('[G2] After the drain nothing is handed out any more, not even calls of running handlers', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    engine.context.isDraining = true;
    engine.context.isStopped = true;
    const id = caller.invoke('f', {}, { baggage: 'svc.depth=1' });
    expect(caller.errorCodeOf(id)).toBe('SHUTTING_DOWN');
    expect(worker.received()).toEqual([]);
  });
});
