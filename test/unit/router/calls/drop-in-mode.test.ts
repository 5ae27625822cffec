import { describe, expect, test } from 'vitest';
import { asRawJson, byteStringToText, textToByteString } from '../../../../src/protocol/json/byte-string.ts';
import type { BuiltinCall } from '../../../../src/router/builtin.ts';
import { withCallerId } from '../../../../src/router/calls/caller-id.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { objectText, randomJson } from '../../../support/random/json-texts.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

const DROP_IN = { settings: { isDropIn: true } };

describe('the id of the caller in payloads', () => {
  test('[PD-8] Outside drop-in mode no payload changes', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f', { x: 1 });
    expect(worker.nextCall().data).toEqual({ x: 1 });
  });

  test('[PD-8] In drop-in mode every object payload has it as the first member', () => {
    const engine = new EngineInMemory(DROP_IN);
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f', { x: 1 });
    caller.invokeVoid('f', {});
    const [first, second] = worker.received('invokefunction').map(({ data }) => data);
    expect(first).toEqual({ _caller_worker_id: caller.workerId, x: 1 });
    expect(second).toEqual({ _caller_worker_id: caller.workerId });
  });

  test.each([[null], [5], ['text'], [[1]], [true]])('[wire 5.1] A payload of %j does not change', (data) => {
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
  ])('[wire 5.1] A caller cannot claim to be another with %s', (data) => {
    const engine = new EngineInMemory(DROP_IN);
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.send(`{"type":"invokefunction","function_id":"f","data":${data}}`);
    expect(worker.nextCall().data).toMatchObject({ _caller_worker_id: caller.workerId });
    expect(worker.socket.texts.at(-1)).not.toContain('forged');
  });

  test('[PD-8] The same key deeper in the payload does not change', () => {
    const engine = new EngineInMemory(DROP_IN);
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.invoke('f', { x: { _caller_worker_id: 'mine' } });
    expect(worker.nextCall().data).toEqual({
      _caller_worker_id: caller.workerId,
      x: { _caller_worker_id: 'mine' },
    });
  });

  test('[PD-8] All other bytes are unchanged: digits, spellings, repeated keys, umlauts', () => {
    const data = '{ "big":12345678901234567890 ,"n":1.0e2, "a":1,"a":2,"s":"\\u00e9é", "_caller_worker_id":"x" }';
    expect(text(data)).toBe(
      '{"_caller_worker_id":"w","big":12345678901234567890,"n":1.0e2,"a":1,"a":2,"s":"\\u00e9é"}',
    );
  });

  test('[PD-8] Any object gains this one key and loses nothing', () => {
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

  test('[PD-8] Calls that begin in the engine have no caller', () => {
    const engine = new EngineInMemory(DROP_IN);
    const watcher = engine.connect();
    watcher.register('watch');
    watcher.bind('t', 'engine::workers-available', 'watch');
    engine.connect();
    expect(watcher.nextCall().data).not.toHaveProperty('_caller_worker_id');
  });

  test.each([true, false])('[PD-8] Built-in functions receive it next to the payload (drop-in: %s)', (isDropIn) => {
    const seen: [unknown, BuiltinCall][] = [];
    const handle = (payload: unknown, call: BuiltinCall) => void seen.push([payload, call]);
    const builtins = [{ id: 'engine::test', description: 'Test', handle }];
    const engine = new EngineInMemory({ settings: { isDropIn }, builtins });
    const caller = engine.connect();
    caller.ask('engine::test', { _caller_worker_id: 'forged' });
    expect(seen).toEqual([
      [
        { _caller_worker_id: 'forged' },
        {
          ...{ callerWorkerId: caller.workerId, callerName: caller.workerId },
          ...{ depth: 1, sent: expect.anything() },
        },
      ],
    ]);
  });
});

describe('names of `iii`', () => {
  test('[PD-2b] In drop-in mode a call of `iii::` reaches the function registered under `svc::`', () => {
    const engine = new EngineInMemory(DROP_IN);
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('svc::durable::publish');
    caller.invoke('iii::durable::publish');
    caller.invoke('svc::durable::publish');
    caller.invoke('iiix::durable::publish');
    expect(worker.received('invokefunction')).toHaveLength(2);
  });

  test('[PD-2b] Outside drop-in mode such an id is an ordinary id', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('svc::x');
    expect(caller.errorCodeOf(caller.invoke('iii::x'))).toBe('function_not_found');
    worker.register('iii::x');
    caller.invoke('iii::x');
    expect(worker.nextCall().function_id).toBe('iii::x');
  });

  test('[wire 5.5] The name of the function is sent under the key of svc, in drop-in mode under that of `iii`', () => {
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
