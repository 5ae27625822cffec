import { afterEach, describe, expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

const PROTOTYPE_KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];

/** Names that cause errors in file systems, terminals, parsers and displays. */
const HOSTILE_IDS = [
  '..',
  '../../etc/passwd',
  '/',
  'C:\\windows',
  'a b',
  '"quoted"',
  'back\\slash',
  '%00',
  '$HOME',
  '<script>',
  "'; drop table",
  'math::аdd', // with a Cyrillic letter
  'math::add\u200b', // with a zero-width space
  'cafe\u0301', // é as two characters
  'caf\u00e9', // é as one
  '\u202egnp.exe', // reversed on the screen
  '名前😀',
  'x'.repeat(256),
  '\ufeffmark',
  '-1',
  'null',
  'svc.depth=64',
];

afterEach(() => {
  // No test may have changed the prototypes of this process.
  expect(Object.getOwnPropertyNames(Object.prototype).filter((key) => /polluted/.test(key))).toEqual([]);
  expect(Object({}).polluted).toBeUndefined();
});

describe('names that every object has', () => {
  test.each(PROTOTYPE_KEYS)('[X19] %s can be the id of a function, a trigger and a trigger type', (name) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    expect(caller.errorCodeOf(caller.invoke(name))).toBe('function_not_found');
    worker.register(name, { description: name });
    worker.bind(name, name, name);
    worker.provideType(name);
    expect(worker.receivedOne('registertrigger')).toMatchObject({ id: name, trigger_type: name, function_id: name });
    expect(caller.ask('engine::functions::info', { function_id: name })).toMatchObject({
      function_id: name,
      triggers: { count: 1, types: [name] },
    });
    const id = caller.invoke(name, 1);
    worker.result(worker.nextCall(), 2);
    expect(caller.answerTo(id).result).toBe(2);
    worker.drop();
    expect(caller.errorCodeOf(caller.invoke(name))).toBe('function_not_found');
  });

  test.each(PROTOTYPE_KEYS)('[X19] %s is an ordinary key in payload, metadata, config, schema and result', (key) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    const text = `{"${key}":{"polluted":true},"x":[{"${key}":1}]}`;
    worker.send(`{"type":"registerfunction","id":"f","metadata":${text},"request_format":${text}}`);
    worker.provideType('hook');
    caller.send(
      `{"type":"registertrigger","id":"t","trigger_type":"hook","function_id":"f","config":${text},"metadata":${text}}`,
    );
    caller.send(
      `{"type":"invokefunction","invocation_id":"i","function_id":"f","data":${text},"metadata":${text},"${key}":1}`,
    );
    const [binding, call] = worker.received();
    worker.send(`{"type":"invocationresult","invocation_id":"${call?.invocation_id}","result":${text}}`);
    const info = textOf(caller, 'engine::functions::info', { function_id: 'f' });
    const trigger = textOf(caller, 'engine::registered-triggers::info', { id: 't' });
    expect(JSON.stringify([binding, call]).split(text)).toHaveLength(5);
    expect(caller.socket.texts.some((frame) => frame.includes(`"result":${text}`))).toBe(true);
    expect(info.split(text)).toHaveLength(4);
    expect(trigger).toContain(text);
  });

  test('[X19] They are ordinary keys in an error', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    const error = '{"code":"A","message":"b","__proto__":{"polluted":1}}';
    worker.send(`{"type":"invocationresult","invocation_id":"${worker.nextCall().invocation_id}","error":${error}}`);
    caller.answerTo(id);
    expect(caller.socket.texts.at(-1)).toContain(`"error":${error}`);
  });

  test('[X19] In drop-in mode they are ordinary keys next to the id of the caller', () => {
    const engine = new EngineInMemory({ settings: { isDropIn: true } });
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const data = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}';
    for (const extra of ['', ',"_caller_worker_id":"forged"', ',"\\u0041":1']) {
      caller.send(`{"type":"invokefunction","function_id":"f","data":{${data}${extra}}}`);
      worker.nextCall();
      expect(worker.socket.texts.at(-1)).toContain(data);
    }
  });

  test('[X19] They have no effect in the profile of a worker and the filter of a list', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.announce(JSON.parse('{"name":"calc","__proto__":{"polluted":1,"pid":9}}'));
    worker.ask('engine::functions::list', JSON.parse('{"__proto__":{"include_internal":true}}'));
    const row = worker.ask('engine::workers::info', { name: 'calc' });
    expect(row).toMatchObject({ worker: { name: 'calc' } });
    expect(JSON.stringify(row)).not.toContain('"pid"');
  });
});

describe('hostile ids', () => {
  test.each(HOSTILE_IDS)('[X20] %j is registered, called, answered and listed unchanged', (id) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register(id);
    const callId = caller.invoke(id, { id });
    const call = worker.nextCall();
    expect(call).toMatchObject({ function_id: id, data: { id } });
    worker.result(call, id);
    expect(caller.answerTo(callId)).toMatchObject({ function_id: id, result: id });
    expect(caller.ask('engine::functions::info', { function_id: id })).toMatchObject({ function_id: id });
    worker.bind(id, id, id, { config: { id } });
    worker.provideType(id);
    expect(worker.receivedOne('registertrigger')).toMatchObject({
      id,
      trigger_type: id,
      function_id: id,
      config: { id },
    });
    worker.unbind(id);
    expect(worker.receivedOne('unregistertrigger')).toMatchObject({ id });
  });

  test('[X20] Ids that look alike are different functions', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const workers = HOSTILE_IDS.map((id) => ({ id, worker: engine.connect() }));
    for (const { id, worker } of workers) worker.register(id);
    for (const { id, worker } of workers) {
      caller.invoke(id);
      expect(worker.received('invokefunction').map((call) => call.function_id)).toEqual([id]);
    }
  });

  test.each(['i', '', '\0', '"\n\u2028', '\ud800', 'x'.repeat(256), '__proto__'])(
    '[I1] A caller gets its answer under the id %j that it chose',
    (invocationId) => {
      const engine = new EngineInMemory();
      const [caller, worker] = [engine.connect(), engine.connect()];
      worker.register('f');
      caller.send({ type: 'invokefunction', invocation_id: invocationId, function_id: 'f' });
      worker.result(worker.nextCall(), 1);
      expect(caller.receivedOne('invocationresult').invocation_id).toBe(invocationId);
    },
  );

  test('[X20] The id is escaped in the baggage of a traced call', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    for (const id of HOSTILE_IDS) {
      worker.register(id);
      caller.invoke(id, {}, { traceparent: '00-1-2-01' });
      expect(worker.nextCall().baggage).toBe(`svc.function.id=${encodeURIComponent(id)},svc.depth=1`);
    }
  });

  test('[X22] No name of a worker or function can forge a log line or control a terminal', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.announce({ name: 'calc\n2026-01-01T00:00:00.000Z ERROR forged\u001b[2J\u202e' });
    worker.register('engine::\u001b]0;title\u0007\nforged');
    worker.bind('t', 'a\r\nforged', 'f');
    worker.send('{"type":"x\\nforged\\u001b[31m"}');
    expect(engine.logLines.length).toBeGreaterThanOrEqual(3);
    for (const line of engine.logLines) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
      expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/);
    }
  });
});

/** The answer of a built-in function as the text that was sent. */
function textOf(caller: TestWorker, functionId: string, payload: object): string {
  caller.ask(functionId, payload);
  return caller.socket.texts.at(-1) ?? '';
}
