import { describe, expect, test } from 'vitest';
import { JsonWire } from '../../../../src/sdk/wire/json-wire.ts';
import { answerBytesMax, callBytesMax, type EncodedCall, encodeValue } from '../../../../src/sdk/wire/wire.ts';
import { FakeSocket } from '../../../support/fakes/fake-platform.ts';
import { deliveredCall, encoded, madeCall } from '../calls/made-calls.ts';
import { RecordingReceiver } from '../connection/recording-receiver.ts';

function setUp() {
  const socket = new FakeSocket(
    { purpose: 'worker', url: 'ws://x', subprotocols: ['svc.json.v1'], headers: {}, messageBytesMax: 1 },
    { onMessage() {}, onAlive() {}, onClose() {} },
  );
  const sent: string[] = [];
  socket.sendTexts = (texts) => void sent.push(...texts);
  return { wire: new JsonWire(socket, () => {}), sent };
}

function written(add: (wire: JsonWire) => void): string {
  const { wire, sent } = setUp();
  add(wire);
  wire.flush();
  return sent.join('\n');
}

function heard(message: string | Uint8Array): unknown[][] {
  const receiver = new RecordingReceiver();
  setUp().wire.receive(message, receiver);
  return receiver.heard;
}

const full = {
  functionId: 'a"\\::\u2028ü',
  number: 17,
  timeoutMs: 30_000,
  action: encoded({ type: 'enqueue', queue: 'q"', delay_ms: 1 }),
  traceparent: '00-"',
  baggage: 'a="\\',
  depth: undefined,
  metadata: encoded({ m: ['"'] }),
  data: encoded({ __proto__: null, text: '\ud800', nothing: null }),
} satisfies EncodedCall;

describe('calls and answers', () => {
  test('[SDK-7] a call has exactly the fields it was given, for any characters in them', () => {
    expect(JSON.parse(written((wire) => wire.addCall(madeCall({ number: 1 }))))).toEqual({
      type: 'invokefunction',
      function_id: 'a::b',
      invocation_id: '1',
      timeout_ms: 5,
    });
    expect(JSON.parse(written((wire) => wire.addCall({ ...full })))).toEqual({
      type: 'invokefunction',
      function_id: 'a"\\::\u2028ü',
      invocation_id: '17',
      timeout_ms: 30_000,
      action: { type: 'enqueue', queue: 'q"', delay_ms: 1 },
      traceparent: '00-"',
      baggage: 'a="\\',
      metadata: { m: ['"'] },
      data: { text: '\ud800', nothing: null },
    });
  });

  test('[SDK-1] a call that no caller waits for is Void', () => {
    expect(JSON.parse(written((wire) => wire.addCall(madeCall())))).toEqual({
      type: 'invokefunction',
      function_id: 'a::b',
      timeout_ms: 5,
      action: { type: 'void' },
    });
  });

  test('[I8] a depth is written into the baggage if it is not there', () => {
    const baggageOf = (depth: number | undefined, baggage?: string) =>
      JSON.parse(written((wire) => wire.addCall(madeCall({ depth, baggage })))).baggage;
    expect(baggageOf(3)).toBe('svc.depth=3');
    expect(baggageOf(3, 'a=b, svc.depth=9 ,c=d')).toBe('a=b,c=d,svc.depth=3');
    expect(baggageOf(0, 'a=b')).toBe('a=b');
    expect(baggageOf(undefined, 'svc.depth=2,a=b')).toBe('svc.depth=2,a=b');
  });

  test('[SDK-7] a result of undefined leaves the field out, and null is sent as null', () => {
    const call = deliveredCall({ idText: 'i"1' });
    const answer = (value: unknown) => JSON.parse(written((wire) => wire.addResult(call, encodeValue(value))));
    expect(answer(undefined)).toEqual({ type: 'invocationresult', invocation_id: 'i"1' });
    expect(answer(null)).toEqual({ type: 'invocationresult', invocation_id: 'i"1', result: null });
    expect(answer({ a: [1] })).toEqual({ type: 'invocationresult', invocation_id: 'i"1', result: { a: [1] } });
    expect(JSON.parse(written((wire) => wire.addError(call, encoded({ code: 'X' }))))).toEqual({
      type: 'invocationresult',
      invocation_id: 'i"1',
      error: { code: 'X' },
    });
  });

  test('[SDK-7] a value without a JSON form is absent, and one that JSON refuses throws', () => {
    expect([undefined, () => 1, Symbol('s')].map(encodeValue)).toEqual([undefined, undefined, undefined]);
    expect(() => encodeValue(5n)).toThrow();
  });

  test('[SDK-7] the computed length of a message is never too small', () => {
    const { wire } = setUp();
    const bytes = Buffer.byteLength(written((other) => other.addCall({ ...full })));
    expect(wire.callBytes(full)).toBe(bytes);
    expect(callBytesMax(full)).toBeGreaterThanOrEqual(bytes);
    const call = deliveredCall({ idText: '"'.repeat(300) });
    const result = encoded('€"');
    const answerBytes = Buffer.byteLength(written((other) => other.addResult(call, result)));
    expect(wire.answerBytes(call, result)).toBe(answerBytes);
    expect(answerBytesMax(call, result)).toBeGreaterThanOrEqual(answerBytes);
  });
});

describe('messages of the engine', () => {
  test('[SDK-7] unknown fields are ignored, so that an engine may be newer than the SDK', () => {
    const result = { type: 'invocationresult', invocation_id: '1', function_id: 'a', result: 5, later: { x: 1 } };
    expect(heard(JSON.stringify(result))).toEqual([['result', 1, 5]]);
    const draining = { type: 'draining', until: 5 };
    expect(heard(JSON.stringify(draining))).toEqual([['frame', draining]]);
  });

  test('[SDK-6] an error has its trace, and null counts as no error', () => {
    const result = { type: 'invocationresult', invocation_id: '7', error: { code: 'X' }, traceparent: '00-1' };
    expect(heard(JSON.stringify(result))).toEqual([['error', 7, { code: 'X' }, '00-1']]);
    expect(heard(JSON.stringify({ ...result, error: null }))).toEqual([['result', 7, undefined]]);
  });

  test('[SDK-3] a call has all its fields, and null as its payload if it has none', () => {
    const call = { type: 'invokefunction', function_id: 'a', invocation_id: 'e-1', timeout_ms: 7 };
    const bare = deliveredCall({
      functionId: 'a',
      idText: 'e-1',
      idLow: 0,
      idHigh: 0,
      timeoutMs: 7,
      depth: undefined,
    });
    expect(heard(JSON.stringify(call))).toEqual([['call', bare, null]]);
    expect(heard(JSON.stringify({ ...call, data: 0, baggage: 'svc.depth=1', metadata: [1] }))).toEqual([
      ['call', { ...bare, baggage: 'svc.depth=1', metadata: [1] }, 0],
    ]);
  });

  test('[SDK-7] a message that is not a frame, or lacks a required field, is only reported as unreadable', () => {
    const messages = [
      '',
      'no json',
      'null',
      '5',
      '[]',
      '{}',
      '{"type":5}',
      '{"type":"toString"}',
      '{"type":"future"}',
      '{"type":"invocationresult"}',
      '{"type":"invokefunction","function_id":"a"}',
      '{"type":"invokefunction","function_id":"a","invocation_id":"1","timeout_ms":"5"}',
      '{"type":"invokefunction","function_id":"a","invocation_id":"1","trigger":{"type":"http"}}',
      '{"type":"workerregistered","worker_id":"w"}',
      '{"type":"registrationrejected","code":"X"}',
      '{"type":"registertrigger","id":"t"}',
      '{"type":"unregistertrigger"}',
      '{"type":"triggerregistrationresult","id":"t"}',
      Buffer.from('{"type":"draining"}'),
    ];
    for (const message of messages) {
      expect(heard(message), String(message)).toEqual([['unreadable', expect.any(String)]]);
    }
  });
});
