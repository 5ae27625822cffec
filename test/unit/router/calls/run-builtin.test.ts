import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('a built-in function that throws', () => {
  test('[guarantees 1.3] Internals of the error are logged, and not sent to the caller', () => {
    const handle = (): never => {
      throw new Error('secret insides');
    };
    const engine = new EngineInMemory({ builtins: [{ id: 'engine::broken', description: 'Test', handle }] });
    const caller = engine.connect();
    expect(caller.answerTo(caller.invoke('engine::broken')).error).toEqual({
      code: 'invocation_failed',
      message: 'engine::broken failed inside the engine; its log says why',
    });
    expect(engine.logLines.join('\n')).toContain('secret insides');
  });

  test('[guarantees 1.3] The same holds for an asynchronous function', async () => {
    const handle = () => Promise.reject(new Error('secret insides'));
    const engine = new EngineInMemory({ builtins: [{ id: 'engine::broken', description: 'Test', handle }] });
    const caller = engine.connect();
    const id = caller.invoke('engine::broken');
    await engine.turn();
    expect(caller.errorCodeOf(id)).toBe('invocation_failed');
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[I3] A function that never ends gets its TIMEOUT at the deadline', async () => {
    const handle = () => new Promise(() => {});
    const engine = new EngineInMemory({ builtins: [{ id: 'engine::endless', description: 'Test', handle }] });
    const caller = engine.connect();
    const id = caller.invoke('engine::endless', {}, { timeout_ms: 100 });
    await engine.turn();
    engine.advance(200);
    expect(caller.errorCodeOf(id)).toBe('TIMEOUT');
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[I5] A function whose caller has left ends without effect', async () => {
    let finish = (): void => {};
    const handle = () => new Promise<void>((resolve) => (finish = resolve));
    const engine = new EngineInMemory({ builtins: [{ id: 'engine::slow', description: 'Test', handle }] });
    const caller = engine.connect();
    caller.invoke('engine::slow');
    caller.drop();
    finish();
    await engine.turn();
    expect(engine.context.calls.openCount).toBe(0);
    expect(engine.context.moduleExecutor.inFlight).toBe(0);
  });
});
