import { describe, expect, test } from 'vitest';
import { WorkerHistory } from '../../../../src/modules/console/sources/worker-history.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

const ANNOUNCEMENT = {
  runtime: 'node',
  version: '0.22.1',
  name: 'calc',
  description: 'Sums',
  os: 'linux 6.1 (x64)',
  pid: 4711,
  isolation: null,
  namespace: null,
  telemetry: { language: 'en-US', amplitude_api_key: 's3cret' },
};

describe("the console's history of workers", () => {
  test('[WRK-1] keeps the last thousand that left, and counts the reconnects of a name within an hour', () => {
    const engine = new EngineInMemory();
    const history = new WorkerHistory(engine.port);
    const visit = (names: readonly string[]): void => {
      const guests = names.map((name) => {
        const guest = engine.connect();
        guest.announce({ name });
        return guest;
      });
      history.look();
      for (const guest of guests) guest.drop();
      engine.advance(1_000);
      history.look();
    };
    visit(['calc']);
    visit(['calc']);
    visit(['calc']);
    expect(history.gone()).toMatchObject([{ name: 'calc', status: 'disconnected', reconnects: 2 }]);
    visit(Array.from({ length: 1_000 }, (_, n) => `guest-${n}`));
    const names = history.gone().map(({ name }) => name);
    expect([names.length, names[0], names.at(-1)]).toEqual([1_000, 'guest-0', 'guest-999']);
    expect(history.reconnectsOf('calc')).toBe(2);
    engine.advance(3_600_001);
    history.look();
    expect([history.gone(), history.of('calc'), history.reconnectsOf('calc')]).toEqual([[], [], 0]);
    visit(['calc']);
    expect(history.reconnectsOf('calc')).toBe(0);
  });
});

describe('engine::workers::register', () => {
  test('[wire 6.1] It answers success, and the worker is listed with its description', () => {
    const engine = new EngineInMemory();
    const [worker, caller] = [engine.connect({ address: '10.0.0.7' }), engine.connect()];
    expect(worker.ask('engine::workers::register', ANNOUNCEMENT)).toEqual({ success: true });
    expect(workers(caller).find((row) => row.id === worker.workerId)).toEqual({
      id: worker.workerId,
      name: 'calc',
      description: 'Sums',
      version: '0.22.1',
      namespace: 'default',
      runtime: 'node',
      os: 'linux 6.1 (x64)',
      status: 'connected',
      function_count: 0,
      functions: [],
      connected_at_ms: Date.UTC(2026, 0, 1),
      active_invocations: 0,
      isolation: null,
      ip_address: '10.0.0.7',
      internal: false,
      latest_metrics: null,
      pid: 4711,
    });
  });

  test('[wire 6.1] No other field is kept', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.announce(ANNOUNCEMENT);
    const [session] = engine.context.sessions.values();
    expect(JSON.stringify(session?.profile)).not.toContain('s3cret');
  });

  test.each([
    ['a\u0000b\u001b[31mc\nd\u202ee', 'ab[31mcde'],
    ['  calc  ', 'calc'],
    ['x'.repeat(500), 'x'.repeat(280)],
    ['  \n\u202e ', null],
    ['', null],
  ])('[wire 6.1] The name %j is shown as %j', (name, shown) => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.announce({ name, description: name });
    expect(workers(worker).find((row) => row.id === worker.workerId)).toMatchObject({
      name: shown,
      description: shown,
    });
  });

  test('[wire 6.1] A worker that does not send its runtime has an unknown one', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.announce({ name: 'calc' });
    expect(workers(worker).find((row) => row.id === worker.workerId)).toMatchObject({ runtime: 'unknown' });
  });

  test('[W3] Names need not be unique', () => {
    const engine = new EngineInMemory();
    const twins = [engine.connect(), engine.connect()];
    for (const twin of twins) twin.announce({ name: 'calc' });
    const [first] = twins;
    expect(first === undefined ? [] : workers(first).filter((row) => row.name === 'calc')).toHaveLength(2);
  });
});

describe('engine::workers::list', () => {
  test('[wire 6.1] A connection that registered something is listed as a worker, even without a name', () => {
    const engine = new EngineInMemory();
    const [caller, functions, types, triggers] = [
      engine.connect(),
      engine.connect(),
      engine.connect(),
      engine.connect(),
    ];
    functions.register('f');
    types.provideType('hook');
    triggers.bind('t', 'hook', 'f');
    const ids = workers(caller).map((row) => row.id);
    expect(ids).not.toContain(caller.workerId);
    for (const worker of [functions, types, triggers]) expect(ids).toContain(worker.workerId);
  });

  test('[PD-49] The status shows whether a worker has functions and whether it is full', () => {
    const engine = new EngineInMemory({ limits: { inFlightPerWorker: 1 } });
    const [caller, worker] = [engine.connect(), engine.connect()];
    const status = () => workers(caller).find((row) => row.id === worker.workerId);
    worker.announce({ name: 'calc' });
    expect(status()).toMatchObject({ status: 'connected' });
    worker.register('f');
    expect(status()).toMatchObject({ status: 'available', function_count: 1, functions: ['f'] });
    caller.invoke('f');
    expect(status()).toMatchObject({ status: 'busy', active_invocations: 1 });
  });

  test('[wire 6.2] Modules are listed with the workers, with a timestamp for old clients', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    engine.advance(5000);
    const answer = caller.ask('engine::workers::list');
    expect(answer).toMatchObject({ timestamp: Date.UTC(2026, 0, 1) + 5000 });
    expect(workers(caller)).toMatchObject([
      { id: 'svc-engine-functions', runtime: 'engine', isolation: 'in-process', status: 'available', internal: true },
    ]);
  });

  test.each([
    [{ search: 'CAL' }, ['calc']],
    [{ runtime: 'python' }, ['post']],
    [{ runtime: 'engine' }, ['svc-engine-functions']],
    [{ status: 'connected' }, ['calc', 'post']],
    [{ worker_id: 'missing' }, []],
    [{}, ['calc', 'post', 'svc-engine-functions']],
    [null, ['calc', 'post', 'svc-engine-functions']],
  ])('[wire 6.2] The filter %j gives %j, by name', (filter, names) => {
    const engine = new EngineInMemory();
    const [first, second] = [engine.connect(), engine.connect()];
    first.announce({ name: 'post', runtime: 'python' });
    second.announce({ name: 'calc', runtime: 'node' });
    expect(workers(first, filter).map((row) => row.name)).toEqual(names);
  });
});

describe('engine::workers::info', () => {
  test('[PD-50] A worker has its functions, trigger types and triggers', () => {
    const engine = new EngineInMemory();
    const [worker, other] = [engine.connect(), engine.connect()];
    worker.announce({ name: 'calc' });
    worker.register('f');
    other.register('f');
    other.register('g');
    worker.provideType('hook');
    other.provideType('other');
    worker.bind('mine', 'other', 'g');
    other.bind('theirs', 'hook', 'f');
    const expected = {
      worker: { id: worker.workerId, name: 'calc' },
      functions: [{ function_id: 'f' }],
      trigger_types: [{ id: 'hook' }],
      registered_triggers: [{ id: 'mine' }],
    };
    expect(other.ask('engine::workers::info', { name: 'calc' })).toMatchObject(expected);
    expect(other.ask('engine::workers::info', { worker_id: worker.workerId })).toMatchObject(expected);
  });

  test('[PD-50] A name that two workers have is refused with both ids', () => {
    const engine = new EngineInMemory();
    const twins = [engine.connect(), engine.connect()];
    for (const twin of twins) twin.announce({ name: 'calc' });
    const [first, second] = twins;
    if (first === undefined || second === undefined) throw new Error('no twins');
    expect(first.answerTo(first.invoke('engine::workers::info', { name: 'calc' })).error).toEqual({
      code: 'INVALID_ARGUMENTS',
      message: `2 workers are named calc; give a worker_id: ${first.workerId}, ${second.workerId}`,
    });
  });

  test.each([
    [{}, 'INVALID_ARGUMENTS', 'Give either worker_id or name'],
    [{ worker_id: 'a', name: 'b' }, 'INVALID_ARGUMENTS', 'Give either worker_id or name'],
    [{ name: 'missing' }, 'NOT_FOUND', 'Worker missing not found'],
    [{ worker_id: 'missing' }, 'NOT_FOUND', 'Worker missing not found'],
  ])('[PD-50] %j is refused', (payload, code, message) => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    expect(caller.answerTo(caller.invoke('engine::workers::info', payload)).error).toEqual({ code, message });
  });
});

interface Row {
  readonly id: string;
  readonly name: string | null;
}

function workers(caller: TestWorker, filter: unknown = {}): Row[] {
  const { workers: rows } = Object(caller.ask('engine::workers::list', filter));
  return Array.isArray(rows) ? rows : [];
}
