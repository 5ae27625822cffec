import { describe, expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import type { ReceivedFrame } from '../../../support/fakes/fake-socket.ts';

describe('frames that cannot be read', () => {
  test.each([
    ['no JSON', 'hello'],
    ['half a frame', '{"type":"ping"'],
    ['a list', '[]'],
    ['no type', '{}'],
    ['an unknown type', '{"type":"sometime","x":1}'],
    ['a missing field', '{"type":"registerfunction"}'],
    ['a field of the wrong kind', '{"type":"registerfunction","id":{}}'],
    ['nesting of 129', `{"type":"ping","x":${'['.repeat(128)}${']'.repeat(128)}}`],
  ])('[wire 1.5] With %s it is logged, counted and dropped, and the connection stays open', (_case, text) => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.send(text);
    worker.send({ type: 'ping' });
    expect(worker.received()).toEqual([{ type: 'pong' }]);
    expect(engine.count('frames.refused')).toBe(1);
    expect(engine.logLines.filter((line) => line.includes('Frame dropped'))).toHaveLength(1);
  });

  test('[X22] The log has the position of the fault, and quotes nothing of the frame', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.send('{"type":"invokefunction","function_id":"f","data":{"password":"hunter2"}');
    const line = engine.logLines.join('\n');
    expect(line).toContain('the text ends in the middle of a value');
    expect(line).not.toContain('hunter2');
  });

  test('[X22] With log_payloads the log quotes the beginning of the frame', () => {
    const engine = new EngineInMemory({ settings: { logPayloads: true } });
    const worker = engine.connect();
    worker.send(`{"x":"é${'y'.repeat(1000)}`);
    const line = engine.logLines.join('\n');
    expect(line).toContain('é');
    expect(line.length).toBeLessThan(700);
  });
});

describe('frames without an effect', () => {
  test.each(['', ' ', '\n', ' \r\n\t '])('[wire 1.5] The blank frame %j is ignored without a log line', (text) => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.send(text);
    expect(worker.received()).toEqual([]);
    expect(engine.count('frames.refused')).toBe(0);
  });

  test.each([
    ['a pong', { type: 'pong' }],
    ['a service of an old client', { type: 'registerservice', id: 'math', name: 'Maths' }],
  ])('[wire 2.2] %s has no effect', (_case, frame) => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.send(frame);
    expect(worker.received()).toEqual([]);
    expect(engine.count('frames.refused')).toBe(0);
  });

  test('[wire 1.6] A ping is answered with a pong', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.send({ type: 'ping' });
    expect(worker.received()).toEqual([{ type: 'pong' }]);
  });
});

describe('binary frames', () => {
  test('[wire 1.5] JSON in a binary frame is read like text', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.sendBinary({ type: 'registerfunction', id: 'é' });
    expect(engine.context.functions.get('é')).toBeDefined();
  });

  test('[wire 1.5] A frame that is not UTF-8 is dropped as a whole', () => {
    const engine = new EngineInMemory();
    const [sender, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const text = '{"type":"invokefunction","function_id":"f","data":"\u00ff"}';
    sender.sendBinary(Uint8Array.from(Buffer.from(text, 'latin1')));
    expect(worker.received()).toEqual([]);
    expect(engine.logLines.join('\n')).toContain('neither telemetry nor UTF-8 text');
    expect(engine.count('frames.refused')).toBe(1);
  });

  test.each(['OTLP', 'MTRC', 'LOGS'])('[wire 1.11] %s is telemetry: counted and dropped', (prefix) => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    worker.sendBinary(`${prefix}{"resourceSpans":[]}`);
    worker.sendBinary(Uint8Array.from([...prefix].map((letter) => letter.charCodeAt(0)).concat(0xff)));
    expect(engine.count('telemetry.dropped', 'observability_off')).toBe(2);
    expect(engine.count('frames.refused')).toBe(0);
    expect(worker.received()).toEqual([]);
  });

  test('[wire 1.11] A text frame is never telemetry', () => {
    const engine = new EngineInMemory();
    engine.connect().send('OTLP{}');
    expect(engine.count('frames.refused')).toBe(1);
  });
});

describe('deeply nested frames', () => {
  test('Every payload field may be nested up to the limit', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    const deep = `${'['.repeat(127)}${']'.repeat(127)}`;
    worker.send(`{"type":"registerfunction","id":"f","request_format":${deep},"metadata":${deep}}`);
    caller.send(`{"type":"registertrigger","id":"t","trigger_type":"x","function_id":"f","config":${deep}}`);
    caller.send(`{"type":"invokefunction","invocation_id":"i","function_id":"f","data":${deep},"metadata":${deep}}`);
    const call = worker.nextCall();
    worker.send(`{"type":"invocationresult","invocation_id":"${call.invocation_id}","error":${deep}}`);
    expect(caller.errorCodeOf('i')).toBe('invocation_failed');
    caller.ask('engine::functions::info', { function_id: 'f' });
    caller.ask('engine::registered-triggers::info', { id: 't' });
    expect(engine.count('frames.refused')).toBe(0);
  });

  test('[guarantees 4] A list of functions is answered even if it nests deeper than a frame may', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    caller.send(`{"type":"registerfunction","id":"f","metadata":${'['.repeat(127)}${']'.repeat(127)}}`);
    expect(caller.ask('engine::functions::list')).toMatchObject({ functions: [{ function_id: 'f' }] });
  });
});

describe('absent and null', () => {
  test.each([
    ['absent', '', null],
    ['null', ',"data":null', null],
    ['false', ',"data":false', false],
    ['an empty text', ',"data":""', ''],
  ])('[wire 2.1] A payload that is %s is passed on as such', (_case, data, expected) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    caller.send(`{"type":"invokefunction","invocation_id":"i","function_id":"f"${data}}`);
    expect(worker.nextCall()).toHaveProperty('data', expected);
  });

  test.each([
    ['neither result nor error', {}, {}],
    ['a result of null', { result: null }, { result: null }],
    ['a result of null and an error of null', { result: null, error: null }, { result: null }],
    ['an error of null', { error: null }, {}],
    ['a result of false', { result: false }, { result: false }],
  ])('[wire 2.3] An answer with %s is a success', (_case, fields, expected) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    worker.result(worker.nextCall(), undefined, fields);
    const { type, invocation_id, function_id, ...rest } = caller.answerTo(id);
    expect([type, invocation_id, function_id]).toEqual(['invocationresult', id, 'f']);
    expect(rest).toEqual(expected);
  });

  test('[wire 2.1] No frame of the engine has null for an absent field', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect({ ownSdk: true }), engine.connect({ ownSdk: true })];
    worker.register('f', { description: null, metadata: null });
    worker.provideType('hook', { namespace: null });
    caller.bind('t', 'hook', 'f', { config: null, metadata: null, namespace: null });
    caller.bind('bad', 'engine::functions-available', 'f', { config: { x: 1 } });
    const id = caller.invoke('f', null, { metadata: null, traceparent: null, baggage: null, action: null });
    worker.result(callOf(worker), null, { error: null, traceparent: null, baggage: null });
    caller.invoke('missing');
    caller.unbind('t');
    caller.answerTo(id);
    for (const frame of [...caller.socket.allFrames(), ...worker.socket.allFrames()]) {
      const nulls = Object.entries(frame).filter(([, value]) => value === null);
      expect(nulls.map(([name]) => name).filter((name) => !['data', 'config', 'result'].includes(name))).toEqual([]);
    }
  });
});

describe('errors of an unknown shape', () => {
  test.each([
    [
      'a stack of null, which makes Node clients lose the error',
      { code: 'A', message: 'no', stacktrace: null },
      { code: 'A', message: 'no' },
    ],
    ['no code', { message: 'no' }, { code: 'invocation_failed', message: 'no' }],
    ['a number for a code', { code: 5, message: 'no' }, { code: 'invocation_failed', message: 'no' }],
    ['only text', 'it broke: é', { code: 'invocation_failed', message: 'it broke: é' }],
    ['a number', 5, { code: 'invocation_failed', message: '5' }],
    ['a list', ['é'], { code: 'invocation_failed', message: '["é"]' }],
    ['no message', { code: 'A', detail: 'größer' }, { code: 'A', message: '{"code":"A","detail":"größer"}' }],
    [
      'everything, and something to repair',
      { code: 'A', message: 'no', stacktrace: 'at x', reason: null },
      { code: 'A', message: 'no', stacktrace: 'at x' },
    ],
  ])('[wire 2.1] With %s the caller gets code and message', (_case, error, expected) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f');
    worker.fail(worker.nextCall(), error);
    expect(caller.answerTo(id).error).toEqual(expected);
  });
});

describe('namespaces', () => {
  test.each([
    ['default', 'served'],
    [null, 'served'],
    ['shop', { code: 'function_not_found', message: 'Function f not found in namespace shop.' }],
    [' ', { code: 'INVALID_NAMESPACE', message: 'The namespace must not be blank' }],
    ['', { code: 'INVALID_NAMESPACE', message: 'The namespace must not be blank' }],
  ])('[wire 3.4] A call into the namespace %j ends with %j', (namespace, expected) => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f', {}, { namespace });
    for (const call of worker.received('invokefunction')) worker.result(call, 'served');
    const { result, error } = caller.answerTo(id);
    expect(result ?? error).toEqual(expected);
  });
});

describe('jobs', () => {
  test('[Q2] Without a queue module an enqueue is refused with the reason', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    const id = caller.invoke('f', {}, { action: { type: 'enqueue', queue: 'payment' } });
    const text = "Queue 'payment' not found: no queue module is loaded (svc-queue)";
    expect(caller.answerTo(id).error).toEqual({
      code: 'enqueue_error',
      message: text,
      enqueue_error: text,
      reason: 'QUEUE_NOT_FOUND',
    });
    expect(worker.received()).toEqual([]);
    expect(engine.count('enqueue.refused', 'QUEUE_NOT_FOUND')).toBe(1);
  });

  test('[wire 5.4] An enqueue without an id is counted, and not answered', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const action = { type: 'enqueue', queue: 'payment' };
    caller.send({ type: 'invokefunction', function_id: 'f', data: {}, action });
    expect(caller.received()).toEqual([]);
    expect(engine.count('enqueue.refused', 'QUEUE_NOT_FOUND')).toBe(1);
  });
});

function callOf(worker: TestWorker): ReceivedFrame {
  const call = worker.received().find((frame) => frame.type === 'invokefunction');
  if (call === undefined) throw new Error('No call came');
  return call;
}
