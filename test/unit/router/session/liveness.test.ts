import { describe, expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { FakeClock } from '../../../support/fakes/fake-clock.ts';

const SECOND = 1000;

describe('pings of the engine', () => {
  test('[W1] Every connection is pinged every ten seconds', () => {
    const engine = new EngineInMemory();
    const workers = Array.from({ length: 25 }, () => engine.connect());
    const rounds = Array.from({ length: 6 }, () => pingsDuring(engine, workers, 10 * SECOND));
    for (const round of rounds) expect(round).toEqual(workers.map(() => 1));
  });

  test('[W1] Every connection is pinged every ten seconds, even if timers are late', () => {
    const engine = new EngineInMemory({ clock: new FakeClock({ timerLatenessMs: 7 }) });
    const workers = Array.from({ length: 25 }, () => engine.connect());
    const gaps = workers.map(() => 0);
    const longest = workers.map(() => 0);
    for (let second = 0; second < 1200; second++) {
      for (const [index, pings] of pingsDuring(engine, workers, SECOND).entries()) {
        gaps[index] = pings > 0 ? 0 : (gaps[index] ?? 0) + 1;
        longest[index] = Math.max(longest[index] ?? 0, gaps[index] ?? 0);
      }
    }
    expect(Math.max(...longest)).toBeLessThanOrEqual(10);
  });

  test('[W1] Pings of many connections are spread over time', () => {
    const engine = new EngineInMemory();
    const workers = Array.from({ length: 100 }, () => engine.connect());
    for (let second = 0; second < 10; second++) {
      const pings = pingsDuring(engine, workers, SECOND).filter((count) => count > 0);
      expect(pings.length).toBe(10);
    }
  });

  test('[W1] A connection that is gone is not pinged', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.drop();
    engine.advance(30 * SECOND);
    expect(worker.socket.pingCount).toBe(0);
  });
});

describe('a connection that sends nothing', () => {
  test.each([0, 50])(
    '[W1] It is closed after 23 to 25 seconds, whenever it connected (timers %d ms late)',
    (timerLatenessMs) => {
      const engine = new EngineInMemory({ clock: new FakeClock({ timerLatenessMs }) });
      const workers = Array.from({ length: 20 }, () => {
        engine.advance(95);
        const worker = engine.connect();
        return { worker, fromMs: engine.clock.monotonicMs() };
      });
      for (const { worker, fromMs } of workers) {
        engine.advance(fromMs + 23 * SECOND - engine.clock.monotonicMs());
        expect(worker.socket.isOpen).toBe(true);
      }
      for (const { worker, fromMs } of workers) {
        engine.advance(Math.max(0, fromMs + 25 * SECOND - engine.clock.monotonicMs()));
        expect(worker.socket.farewell).toBe('terminated');
      }
      expect(engine.count('connections.closed', 'silent')).toBe(workers.length);
    },
  );

  test('[W1] The log names the worker and the usual cause', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.announce({ name: 'calc' });
    engine.advance(27 * SECOND);
    const line = engine.logLines.find((one) => one.includes('nothing was heard'));
    expect(line).toContain('A handler that blocks its event loop does this');
    expect(line).toContain('worker=calc');
    expect(line).toMatch(/silent_ms=2[34]\d{3}/);
  });

  test.each([
    ['a frame', (worker: TestWorker) => worker.send({ type: 'pong' })],
    ['a frame that cannot be read', (worker: TestWorker) => worker.send('rubbish')],
    ['a blank frame', (worker: TestWorker) => worker.send(' ')],
    ['telemetry', (worker: TestWorker) => worker.sendBinary('MTRC{}')],
    ['a ping or pong of WebSocket', (worker: TestWorker) => worker.sign()],
  ])('[W1] %s counts as a sign of life', (_case, signOfLife) => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    for (let round = 0; round < 5; round++) {
      engine.advance(23 * SECOND);
      expect(worker.socket.isOpen).toBe(true);
      signOfLife(worker);
    }
    engine.advance(27 * SECOND);
    expect(worker.socket.isOpen).toBe(false);
  });

  test('[W1] What the engine sends is not a sign of life', () => {
    const engine = new EngineInMemory();
    const [silent, caller] = [engine.connect(), engine.connect()];
    silent.register('f');
    for (let second = 0; second < 27; second++) {
      caller.invokeVoid('f');
      engine.advance(SECOND);
    }
    expect([silent.socket.isOpen, caller.socket.isOpen]).toEqual([false, true]);
  });

  test('[W1] Only the silent connection is closed', () => {
    const engine = new EngineInMemory();
    const [silent, lively] = [engine.connect(), engine.connect()];
    engine.advance(20 * SECOND);
    lively.sign();
    engine.advance(10 * SECOND);
    expect([silent.socket.isOpen, lively.socket.isOpen]).toEqual([false, true]);
  });

  test('[W1] A pause of the engine of two seconds closes no connection', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    engine.advance(20 * SECOND);
    worker.sign();
    engine.clock.stall(2 * SECOND);
    engine.advance(20 * SECOND);
    expect(worker.socket.isOpen).toBe(true);
  });
});

describe('the timers', () => {
  test('[guarantees 1.2] No timer remains after the stop', () => {
    const engine = new EngineInMemory();
    engine.stop();
    expect(engine.clock.timerCount).toBe(0);
  });
});

function pingsDuring(engine: EngineInMemory, workers: readonly TestWorker[], ms: number): number[] {
  const before = workers.map((worker) => worker.socket.pingCount);
  engine.advance(ms);
  for (const worker of workers) worker.sign();
  return workers.map((worker, index) => worker.socket.pingCount - (before[index] ?? 0));
}
