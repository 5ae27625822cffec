import { describe, expect, test } from 'vitest';
import { asRawJson, byteStringToText, textToByteString } from '../../../src/protocol/byte-string.ts';
import type { BuiltinCall } from '../../../src/router/builtin.ts';
import { withCallerId } from '../../../src/router/caller-id.ts';
import { EngineInMemory } from '../../support/engine-in-memory.ts';
import { objectText, randomJson } from '../../support/json-texts.ts';
import { forEachSeed } from '../../support/seeded-random.ts';

const DROP_IN = { settings: { isDropIn: true } };

describe('the id of the caller in payloads', () => {
  test('[decisions 8] Outside drop-in mode no payload of a worker is touched', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f', { x: 1 });
    expect(worker.nextCall().data).toEqual({ x: 1 });
  });

  test('[decisions 8] In drop-in mode it is put into every object, in front of what was there', () => {
    const engine = new EngineInMemory(DROP_IN);
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f', { x: 1 });
    caller.invokeVoid('f', {});
    const [first, second] = worker.received('invokefunction').map(({ data }) => data);
    expect(first).toEqual({ _caller_worker_id: caller.workerId, x: 1 });
    expect(second).toEqual({ _caller_worker_id: caller.workerId });
  });

  test.each([[null], [5], ['text'], [[1]], [true]])('[wire 5.1] A payload of %j stays as it is', (data) => {
    const engine = new EngineInMemory(DROP_IN);
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f', data);
    expect(worker.nextCall().data).toEqual(data);
  });

  test.each([
    '{"_caller_worker_id":"forged"}',
    '{"x":1,"_caller_worker_id":"forged"}',
    '{"_caller_worker_id":"forged","_caller_worker_id":{"twice":true}}',
    '{"\\u005fcaller_worker_id":"forged"}',
    '{"_caller\\u005fworker_id":"forged","x":1}',
  ])('[wire 5.1] A caller cannot give itself out as another with %s', (data) => {
    const engine = new EngineInMemory(DROP_IN);
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.send(`{"type":"invokefunction","function_id":"f","data":${data}}`);
    expect(worker.nextCall().data).toMatchObject({ _caller_worker_id: caller.workerId });
    expect(worker.socket.texts.at(-1)).not.toContain('forged');
  });

  test('[decisions 8] What a caller writes of it deeper down is left alone', () => {
    const engine = new EngineInMemory(DROP_IN);
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f', { x: { _caller_worker_id: 'mine' } });
    expect(worker.nextCall().data).toEqual({
      _caller_worker_id: caller.workerId,
      x: { _caller_worker_id: 'mine' },
    });
  });

  test('[decisions 8] All other bytes stay: digits, spellings, doubled keys, umlauts', () => {
    const data = '{ "big":12345678901234567890 ,"n":1.0e2, "a":1,"a":2,"s":"\\u00e9é", "_caller_worker_id":"x" }';
    expect(text(data)).toBe(
      '{"_caller_worker_id":"w","big":12345678901234567890,"n":1.0e2,"a":1,"a":2,"s":"\\u00e9é"}',
    );
  });

  test('[decisions 8] Whatever the object, it gains this one key and loses nothing', () => {
    forEachSeed(500, (random) => {
      const keys = ['"x"', '"é"', '"_caller_worker_id"', '"\\u005fcaller_worker_id"', '"__proto__"', '"\\n"'];
      const members = Array.from({ length: random.below(6) }, () => ({
        key: random.pick(keys),
        value: randomJson(random),
      }));
      const data = objectText(random, members);
      const expected = { ...JSON.parse(data), _caller_worker_id: 'w' };
      expect(JSON.parse(text(data))).toEqual(expected);
    });
  });

  test('[decisions 8] Calls that begin in the engine have no caller', () => {
    const engine = new EngineInMemory(DROP_IN);
    const watcher = engine.connect();
    watcher.register('watch');
    watcher.bind('t', 'engine::workers-available', 'watch');
    engine.connect();
    expect(watcher.nextCall().data).not.toHaveProperty('_caller_worker_id');
  });

  test.each([true, false])('[decisions 8] Built-in functions learn it beside the payload (drop-in: %s)', (isDropIn) => {
    const seen: [unknown, BuiltinCall][] = [];
    const handle = (payload: unknown, call: BuiltinCall) => void seen.push([payload, call]);
    const builtins = [{ id: 'engine::test', description: 'Test', handle }];
    const engine = new EngineInMemory({ settings: { isDropIn }, builtins });
    const caller = engine.connect();
    caller.ask('engine::test', { _caller_worker_id: 'forged' });
    expect(seen).toEqual([
      [{ _caller_worker_id: 'forged' }, { callerWorkerId: caller.workerId, depth: 1, sent: expect.anything() }],
    ]);
  });
});

describe('names of the peer', () => {
  test('[decisions 2b] In drop-in mode a call of `iii::` reaches what is registered under `svc::`', () => {
    const engine = new EngineInMemory(DROP_IN);
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('svc::durable::publish');
    caller.invoke('iii::durable::publish');
    caller.invoke('svc::durable::publish');
    caller.invoke('iiix::durable::publish');
    expect(worker.received('invokefunction')).toHaveLength(2);
  });

  test('[decisions 2b] Outside it such an id is an id like others', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('svc::x');
    expect(caller.errorCodeOf(caller.invoke('iii::x'))).toBe('function_not_found');
    worker.register('iii::x');
    caller.invoke('iii::x');
    expect(worker.nextCall().function_id).toBe('iii::x');
  });

  test('[wire 5.5] The name of the function travels under the key of the product, in drop-in mode of the peer', () => {
    for (const [isDropIn, key] of [
      [false, 'svc.function.id'],
      [true, 'iii.function.id'],
    ] as const) {
      const engine = new EngineInMemory({ settings: { isDropIn } });
      const [caller, worker] = [engine.connect(), engine.connect()];
      worker.register('math::add');
      caller.invoke('math::add', {}, { baggage: 'k=v' });
      expect(worker.nextCall().baggage).toBe(`k=v,${key}=math%3A%3Aadd,svc.depth=1`);
    }
  });
});

function text(data: string): string {
  return byteStringToText(withCallerId(asRawJson(textToByteString(data)), 'w'));
}
