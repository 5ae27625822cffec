import { describe, expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('engine::workers-available', () => {
  test('[wire 1.7] A worker is announced when it connects, when it identifies itself, and when it leaves', () => {
    const { engine, watcher } = watch('engine::workers-available');
    const worker = engine.connect();
    worker.announce({ name: 'calc' });
    worker.drop();
    expect(events(watcher)).toEqual([
      { event: 'worker_connected', worker_id: worker.workerId },
      { event: 'worker_metadata_updated', worker_id: worker.workerId },
      { event: 'worker_disconnected', worker_id: worker.workerId },
    ]);
  });

  test('[wire 4.6] The event has the metadata of its trigger and no caller', () => {
    const { engine, watcher } = watch('engine::workers-available', { metadata: { tenant: 'é' } });
    engine.connect();
    const call = watcher.nextCall();
    expect(call.metadata).toEqual({ tenant: 'é' });
    expect(Object.keys(Object(call.data)).sort()).toEqual(['event', 'worker_id']);
  });
});

describe('engine::functions-available', () => {
  test('[wire 6.4] Added and removed functions are announced, with the list of all functions', () => {
    const { engine, watcher } = watch('engine::functions-available');
    const worker = engine.connect();
    worker.register('math::add', { description: 'Adds' });
    engine.advance(250);
    worker.drop();
    engine.advance(250);
    const lists = events(watcher).map((event) => [event.event, idsIn(event)]);
    expect(lists).toEqual([
      ['functions_changed', ['math::add', 'watch']],
      ['functions_changed', ['watch']],
    ]);
  });

  test('[wire 6.4] It fires at most once in 250 ms, however many functions change', () => {
    const { engine, watcher } = watch('engine::functions-available');
    const worker = engine.connect();
    const announced: { atMs: number; ids: unknown[] }[] = [];
    const look = (): void => {
      for (const event of events(watcher)) announced.push({ atMs: engine.clock.monotonicMs(), ids: idsIn(event) });
    };
    for (let step = 0; step < 400; step++) {
      worker.register(`f${step}`);
      look();
      engine.advance(5);
      look();
    }
    engine.advance(250);
    look();
    const gaps = announced.slice(1).map(({ atMs }, index) => atMs - (announced[index]?.atMs ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(250);
    // The two seconds hold eight quarters, with one event at each end.
    expect(announced.length).toBeGreaterThanOrEqual(7);
    expect(announced.length).toBeLessThanOrEqual(10);
    expect(announced.at(-1)?.ids).toHaveLength(401);
  });

  test('[wire 6.4] The last change is announced, whenever it occurs', () => {
    for (const pauseMs of [0, 1, 100, 249, 250, 251, 600]) {
      const { engine, watcher } = watch('engine::functions-available');
      const worker = engine.connect();
      worker.register('a');
      engine.advance(pauseMs);
      worker.register('b');
      engine.advance(500);
      const last = events(watcher).at(-1);
      expect(last === undefined ? [] : idsIn(last)).toEqual(['a', 'b', 'watch']);
    }
  });

  test.each([
    ['a second worker offers it', (_replica: TestWorker, worker: TestWorker) => worker.register('watch')],
    ['one of two workers leaves', (replica: TestWorker) => replica.drop()],
    ['one of two workers withdraws it', (replica: TestWorker) => replica.unregister('watch')],
    ['it is described again', (replica: TestWorker) => replica.register('watch', { description: 'new' })],
    ['a registration is refused', (replica: TestWorker) => replica.register('engine::x')],
    ['something unknown is withdrawn', (replica: TestWorker) => replica.unregister('nothing')],
  ])('[wire 6.4] Nothing is announced if %s', (_case, change) => {
    const { engine, watcher } = watch('engine::functions-available');
    const [replica, worker] = [engine.connect(), engine.connect()];
    replica.register('watch');
    engine.advance(1000);
    expect(events(watcher)).toEqual([]);
    change(replica, worker);
    engine.advance(1000);
    expect(events(watcher)).toEqual([]);
  });
});

describe('several subscribers', () => {
  test('[PD-26] Replicas of one worker get an event once, and the second gets it after the first has left', () => {
    const engine = new EngineInMemory();
    const replicas = [engine.connect(), engine.connect()];
    for (const [index, replica] of replicas.entries()) {
      replica.register('watch');
      replica.bind(`t${index}`, 'engine::workers-available', 'watch');
    }
    for (const replica of replicas) replica.received();
    engine.connect();
    expect(replicas.flatMap((replica) => events(replica))).toHaveLength(1);
    replicas[0]?.drop();
    replicas[1]?.received();
    engine.connect();
    expect(replicas[1] === undefined ? [] : events(replicas[1])).toHaveLength(1);
  });

  test('[PD-26] Each of several functions gets an event', () => {
    const engine = new EngineInMemory();
    const workers = [engine.connect(), engine.connect()];
    for (const [index, worker] of workers.entries()) {
      worker.register(`watch${index}`);
      worker.bind(`t${index}`, 'engine::workers-available', `watch${index}`);
    }
    for (const worker of workers) worker.received();
    engine.connect();
    expect(workers.map((worker) => events(worker).length)).toEqual([1, 1]);
  });
});

describe('an event whose handler is missing', () => {
  test('[guarantees 1.3] It is counted and logged, and the trigger shows why until it works again', () => {
    const engine = new EngineInMemory();
    const owner = engine.connect();
    owner.bind('t', 'engine::workers-available', 'größer');
    engine.connect();
    expect(engine.count('triggers.failed')).toBe(1);
    expect(engine.logLines.join('\n')).toContain('A trigger failed');
    expect(owner.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({
      status: 'Error',
      error: 'function_not_found: Function größer not found',
      last_fired_at: '2026-01-01T00:00:00.000Z',
    });
    owner.register('größer');
    engine.connect();
    const row = owner.ask('engine::registered-triggers::info', { id: 't' });
    expect(row).toMatchObject({ status: 'Active' });
    expect(row).not.toHaveProperty('error');
  });

  test('[wire 3.3] A trigger whose function left stays, and fires again when it is back', () => {
    const engine = new EngineInMemory();
    const [owner, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    owner.bind('t', 'engine::workers-available', 'f');
    worker.drop();
    const returned = engine.connect();
    returned.register('f');
    const newcomer = engine.connect();
    expect(returned.nextCall().data).toEqual({ event: 'worker_connected', worker_id: newcomer.workerId });
  });

  test('[V1] A handler that fails is logged, and its answer is not delivered', () => {
    const { engine, watcher } = watch('engine::workers-available');
    engine.connect();
    watcher.fail(watcher.nextCall(), { code: 'A', message: 'broke' });
    expect(watcher.received()).toEqual([]);
    expect(engine.count('triggers.failed')).toBe(1);
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[I3] A handler that never answers is given up after thirty seconds', () => {
    const { engine, watcher } = watch('engine::workers-available');
    engine.connect().drop();
    expect(engine.context.calls.openCount).toBe(2);
    for (let second = 0; second < 31; second++) {
      watcher.sign();
      engine.advance(1000);
    }
    expect(engine.context.calls.openCount).toBe(0);
    expect(engine.count('invocations.timed_out')).toBe(2);
  });
});

function watch(type: string, fields: object = {}): { engine: EngineInMemory; watcher: TestWorker } {
  const engine = new EngineInMemory();
  const watcher = engine.connect();
  watcher.register('watch');
  engine.advance(1000);
  watcher.bind('w', type, 'watch', { ...fields });
  return { engine, watcher };
}

function events(worker: TestWorker): Record<string, unknown>[] {
  return worker.received('invokefunction').map((call) => ({ ...Object(call.data) }));
}

function idsIn(event: Record<string, unknown>): unknown[] {
  const { functions } = event;
  return Array.isArray(functions) ? functions.map((row) => Object(row).function_id).sort() : [];
}
