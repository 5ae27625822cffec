import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('a call that was handed over', () => {
  test('[I2] It is never given to a second worker when the first leaves', () => {
    const engine = new EngineInMemory();
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('f');
    const id = caller.invoke('f');
    expect(first.received('invokefunction')).toHaveLength(1);
    first.drop();
    expect(caller.errorCodeOf(id)).toBe('invocation_stopped');
    expect(second.received()).toEqual([]);
  });

  test('[I2] It is not given to a second worker even if its bytes were not written yet', () => {
    const engine = new EngineInMemory();
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('f');
    const id = caller.invoke('f');
    // The turn is not over: the frame has not left.
    first.drop();
    expect(first.received()).toEqual([]);
    expect(second.received()).toEqual([]);
    expect(caller.errorCodeOf(id)).toBe('invocation_stopped');
  });

  test('[I2] It is not repeated when its deadline passes', () => {
    const engine = new EngineInMemory();
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('f');
    caller.invoke('f', {}, { timeout_ms: 100 });
    engine.advance(1000);
    expect(first.received('invokefunction')).toHaveLength(1);
    expect(second.received()).toEqual([]);
  });

  test('[I2] It is not repeated when the worker reports an error', () => {
    const engine = new EngineInMemory();
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('f');
    caller.invoke('f');
    first.fail(first.nextCall(), { code: 'A', message: 'try elsewhere' });
    expect(second.received()).toEqual([]);
  });
});

describe('the choice of a worker', () => {
  test('[I2] A worker whose connection is gone is not chosen', () => {
    const engine = new EngineInMemory();
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('f');
    first.drop();
    for (let call = 0; call < 3; call++) caller.invoke('f');
    expect(second.received('invokefunction')).toHaveLength(3);
  });

  test('[I2] A worker that the engine has closed in the same turn is not chosen', () => {
    const engine = new EngineInMemory();
    const [caller, first, second] = [engine.connect(), engine.connect(), engine.connect()];
    for (const worker of [first, second]) worker.register('f');
    first.socket.isDropping = true;
    caller.invoke('f');
    engine.flush();
    expect(first.socket.farewell).toBe('terminated');
    const id = caller.invoke('f');
    second.result(second.nextCall(), 'elsewhere');
    expect(caller.answerTo(id).result).toBe('elsewhere');
  });
});

describe('the order of calls', () => {
  test('[guarantees 2] Calls of one caller reach one worker in the order they were made', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    for (let index = 0; index < 50; index++) {
      if (index % 3 === 0) caller.invokeVoid('f', index);
      else caller.invoke('f', index);
    }
    const order = worker.received('invokefunction').map((call) => call.data);
    expect(order).toEqual(Array.from({ length: 50 }, (_, index) => index));
  });
});
