import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

describe('the deadline of a call', () => {
  test.each([
    ['A caller of our own SDK that names none', 30 * SECOND, { ownSdk: true }, {}],
    ['A foreign caller that names none, whose own timer answers first,', HOUR, { ownSdk: false }, {}],
    ['A caller of our own SDK with a short one', 1500, { ownSdk: true }, { timeout_ms: 1500 }],
    ['A caller of our own SDK with a long one', 120_000, { ownSdk: true }, { timeout_ms: 120_000 }],
    ['A foreign caller that names one', 250, { ownSdk: false }, { timeout_ms: 250 }],
    ['A caller with the shortest there is', 1, { ownSdk: true }, { timeout_ms: 1 }],
    ['A caller with the longest there is', HOUR, { ownSdk: true }, { timeout_ms: HOUR }],
  ])('[I3] %s gets its TIMEOUT after %d ms', (_case, timeoutMs, connection, fields) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(connection), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f', {}, fields);
    // Pings of the two keep the connections alive through the hour.
    passTime(engine, timeoutMs, () => [caller, worker].map((one) => one.sign()));
    expect(caller.answersTo(id)).toEqual([]);
    engine.advance(100);
    expect(caller.answerTo(id).error).toEqual({
      code: 'TIMEOUT',
      message: `invocation timed out after ${timeoutMs}ms`,
    });
    expect(engine.count('invocations.timed_out')).toBe(1);
  });

  test('[I3] The answer is never early and at most 100 ms late, whenever the call begins', () => {
    for (let startMs = 0; startMs < 50; startMs += 7) {
      const engine = new EngineInMemory();
      const [caller, worker] = [engine.connect(), engine.connect()];
      worker.register('f');
      engine.advance(startMs);
      const id = caller.invoke('f', {}, { timeout_ms: 500 });
      engine.advance(500);
      expect(caller.answersTo(id)).toEqual([]);
      engine.advance(100);
      expect(caller.answerTo(id).error).toMatchObject({ code: 'TIMEOUT' });
    }
  });

  test('[I3] A wall clock that jumps changes nothing', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f', {}, { timeout_ms: 500 });
    engine.clock.setWallClock(Date.UTC(2040, 0, 1));
    engine.advance(400);
    expect(caller.answersTo(id)).toEqual([]);
    engine.clock.setWallClock(Date.UTC(1999, 0, 1));
    engine.advance(200);
    expect(caller.errorCodeOf(id)).toBe('TIMEOUT');
  });

  test('[I3] An answered call gets no second answer at its deadline', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f', {}, { timeout_ms: 500 });
    worker.result(worker.nextCall(), 'in time');
    engine.advance(5000);
    expect(caller.answerTo(id).result).toBe('in time');
    expect(engine.count('invocations.timed_out')).toBe(0);
  });

  test('[I3] A worker with the SDK of the engine is sent the deadline, and a foreign worker is not', () => {
    const engine = new EngineInMemory();
    const [caller, own, foreign] = [engine.connect(), engine.connect({ ownSdk: true }), engine.connect()];
    own.register('own');
    foreign.register('foreign');
    caller.invoke('own', {}, { timeout_ms: 750 });
    caller.invoke('foreign', {}, { timeout_ms: 750 });
    expect(own.nextCall().timeout_ms).toBe(750);
    expect(foreign.nextCall()).not.toHaveProperty('timeout_ms');
  });

  test('[I3] Fire-and-forget calls end at their deadline too, without an answer', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect({ ownSdk: true }), engine.connect()];
    worker.register('f');
    caller.invokeVoid('f');
    worker.received();
    expect(engine.context.calls.openCount).toBe(1);
    passTime(engine, 30_100, () => [caller, worker].map((one) => one.sign()));
    expect(engine.context.calls.openCount).toBe(0);
    expect(caller.received()).toEqual([]);
  });
});

describe('deadlines that cannot be kept', () => {
  test.each([0, -1, 1.5, 3_600_001, 1e300])('[I3] timeout_ms of %d is refused with the range', (timeoutMs) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f', {}, { timeout_ms: timeoutMs });
    expect(caller.answerTo(id).error).toEqual({
      code: 'BAD_REQUEST',
      message: `timeout_ms must be a whole number from 1 to 3600000, found ${timeoutMs}`,
    });
    expect(worker.received()).toEqual([]);
  });

  test('[I3] A timeout_ms too large for a number is refused, not treated as absent', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.send('{"type":"invokefunction","invocation_id":"i","function_id":"f","timeout_ms":1e400}');
    expect(worker.received()).toEqual([]);
    expect(caller.errorCodeOf('i')).toBe('BAD_REQUEST');
  });
});

/** In steps short enough for a live connection. */
function passTime(engine: EngineInMemory, ms: number, signOfLife: () => void): void {
  for (let restMs = ms; restMs > 0; restMs -= 20_000) {
    signOfLife();
    engine.advance(Math.min(restMs, 20_000));
  }
}
