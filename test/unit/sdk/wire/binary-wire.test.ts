import { describe, expect, test } from 'vitest';
import { NAMES_MAX } from '../../../../src/protocol/binary/binary-layout.ts';
import { MessageBuffer } from '../../../../src/protocol/binary/binary-messages.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { nodeMemory } from '../../../../src/sdk/node/memory-node.ts';
import { BinaryWire } from '../../../../src/sdk/wire/binary-wire.ts';
import { jsonCallBytes } from '../../../../src/sdk/wire/json-wire.ts';
import { answerBytesMax, callBytesMax } from '../../../../src/sdk/wire/wire.ts';
import { HEADROOM_BYTES } from '../../../../src/sdk/worker/platform.ts';
import { FakeSocket } from '../../../support/fakes/fake-platform.ts';
import { deliveredCall, encoded, madeCall } from '../calls/made-calls.ts';
import { RecordingReceiver } from '../connection/recording-receiver.ts';
import { BinaryEngine, type JsonFrame } from './binary-engine.ts';

interface Options {
  readonly frameBytesMax?: number;
  /** Acts like a socket that still needs the memory it was given. */
  readonly keepsMemory?: boolean;
}

function setUp({ frameBytesMax = 16 * 1024 * 1024, keepsMemory = false }: Options = {}) {
  const socket = new FakeSocket(
    { purpose: 'worker', url: 'ws://x', subprotocols: ['svc.compact.v1'], headers: {}, messageBytesMax: 1 },
    { onMessage() {}, onAlive() {}, onClose() {} },
  );
  const engine = new BinaryEngine();
  const sent: Buffer[] = [];
  socket.sendBytes = (memory, start, end) => {
    expect(start, 'room for the header of the socket').toBe(HEADROOM_BYTES);
    const view = Buffer.from(memory.buffer, memory.byteOffset + start, end - start);
    sent.push(keepsMemory ? view : Buffer.from(view));
    if (!keepsMemory) memory.fill(0xee);
    return !keepsMemory;
  };
  const wire = new BinaryWire(socket, nodeMemory, frameBytesMax);
  const receiver = new RecordingReceiver();
  const frames = (): JsonFrame[] => sent.flatMap((bytes) => engine.read(bytes));
  return { wire, sent, frames, receiver };
}

describe('a batch', () => {
  test('[SDK-7] holds all added messages in order', () => {
    const { wire, sent, frames } = setUp();
    wire.addFrame('{"type":"pong"}');
    wire.addCall(madeCall({ number: 1, data: encoded('first') }));
    wire.addCall(madeCall({ number: 2, functionId: 'größe::€😀', data: encoded('é€😀') }));
    wire.addCall(madeCall({ number: 3, data: encoded({ third: null }) }));
    wire.flush();
    expect(sent).toHaveLength(1);
    expect(frames()).toMatchObject([
      { type: 'pong' },
      { function_id: 'a::b', invocation_id: '1', data: 'first' },
      { function_id: 'größe::€😀', invocation_id: '2', data: 'é€😀' },
      { function_id: 'a::b', invocation_id: '3', data: { third: null } },
    ]);
    wire.flush();
    expect(sent).toHaveLength(1);
  });

  test('[W4] holds nothing after it was discarded', () => {
    const { wire, sent } = setUp();
    wire.addFrame('{"type":"pong"}');
    wire.discard();
    wire.flush();
    expect(sent).toEqual([]);
  });

  test('[SDK-7] becomes several messages if one would be longer than the engine accepts', () => {
    const { wire, sent, frames } = setUp({ frameBytesMax: 2_000 });
    for (let number = 1; number <= 50; number++) wire.addCall(madeCall({ number, data: encoded('é'.repeat(100)) }));
    const largest = encoded('x'.repeat(2_000 - 16 - 2));
    wire.addResult(deliveredCall(), encoded('small'));
    wire.addFrame(JSON.stringify({ type: 'pong', filler: 'x'.repeat(1_900) }));
    wire.flush();
    for (const { length } of sent) expect(length).toBeLessThanOrEqual(2_000);
    expect(sent.length).toBeGreaterThan(6);
    expect(sent.length).toBeLessThan(12);
    const calls = sent.slice(0, 6).map((bytes) => bytes.length);
    expect(Math.min(...calls), 'messages are filled before the next one is begun').toBeGreaterThan(1_700);
    sent.length = 0;
    wire.addResult(deliveredCall(), encoded('small'));
    wire.addResult(deliveredCall(), largest);
    wire.addResult(deliveredCall(), undefined);
    wire.flush();
    expect(sent.map(({ length }) => length)).toEqual([16 + 7, 2_000, 16]);
    expect(frames).toThrow('generation 2');
  });

  test('[SDK-7] grows for a payload of any size, and keeps the earlier messages', () => {
    const { wire, sent, frames } = setUp();
    wire.addFrame('{"type":"pong"}');
    wire.addCall(madeCall({ number: 1, data: encoded('€'.repeat(2_000_000)) }));
    wire.addFrame('{"type":"pong"}');
    wire.flush();
    expect(sent).toHaveLength(1);
    expect(frames()).toMatchObject([{ type: 'pong' }, { data: '€'.repeat(2_000_000) }, { type: 'pong' }]);
  });

  test('[SDK-7] is not overwritten while the socket needs it', () => {
    const { wire, frames } = setUp({ keepsMemory: true });
    for (let number = 1; number <= 3; number++) {
      wire.addCall(madeCall({ number, data: encoded(`call ${number}`) }));
      wire.flush();
    }
    expect(frames().map(({ data }) => data)).toEqual(['call 1', 'call 2', 'call 3']);
  });

  test('[SDK-7] holds the payload of a call only until it is sent', () => {
    const { wire } = setUp();
    const call = madeCall({ number: 1, data: encoded('large'), metadata: encoded('large too') });
    wire.addCall(call);
    wire.flush();
    expect([call.data, call.metadata]).toEqual([undefined, undefined]);
  });

  test('[I8] has the depth of a chain of calls, even if it arrived in a baggage', () => {
    const { wire, frames } = setUp();
    wire.addCall(madeCall({ depth: 63 }));
    wire.addCall(madeCall({ depth: undefined, baggage: 'a=b,svc.depth=7' }));
    wire.addCall(madeCall({ depth: 1e9 }));
    wire.flush();
    expect(frames().map(({ baggage }) => baggage)).toEqual(['svc.depth=63', 'a=b,svc.depth=7', 'svc.depth=65535']);
  });

  test('[SDK-7] the computed length of a message is never too small', () => {
    const calls = [
      madeCall({ number: 1 }),
      madeCall({ functionId: '€'.repeat(100), data: encoded('é€😀') }),
      madeCall({
        action: encoded({ queue: '€' }),
        traceparent: '00-1',
        baggage: 'a=é',
        metadata: encoded(['€']),
        data: encoded('\u0000'.repeat(50)),
      }),
    ];
    for (const call of calls) {
      const { wire, sent } = setUp();
      const bytes = wire.callBytes(call);
      expect(callBytesMax(call)).toBeGreaterThanOrEqual(bytes);
      expect(jsonCallBytes(call)).toBeGreaterThanOrEqual(bytes);
      expect(callBytesMax(call)).toBeGreaterThanOrEqual(jsonCallBytes(call));
      wire.addCall(call);
      wire.flush();
      expect(sent[0]).toHaveLength(bytes);
    }
    const { wire, sent } = setUp();
    const answer = encoded('é€😀');
    wire.addError(deliveredCall(), answer);
    wire.flush();
    expect(sent[0]).toHaveLength(wire.answerBytes(deliveredCall(), answer));
    expect(answerBytesMax(deliveredCall(), answer)).toBeGreaterThanOrEqual(wire.answerBytes(deliveredCall(), answer));
  });
});

describe('names', () => {
  test('[SDK-7] are defined once, and numbers start again when all are used', () => {
    const { wire, sent, frames } = setUp();
    const callAll = (from: number, to: number): void => {
      for (let at = from; at < to; at++) {
        wire.addCall(madeCall({ number: 1, functionId: `f::${at}` }));
        if (at % 1_000 === 0) wire.flush();
      }
      wire.flush();
    };
    callAll(0, NAMES_MAX);
    callAll(1, 3);
    expect(sent.at(-1)).toHaveLength(2 * 24);
    callAll(NAMES_MAX - 1, NAMES_MAX + 3);
    callAll(0, 2);
    const names = frames().map(({ function_id }) => function_id);
    expect(names.slice(NAMES_MAX)).toEqual([
      'f::1',
      'f::2',
      ...[-1, 0, 1, 2].map((offset) => `f::${NAMES_MAX + offset}`),
      'f::0',
      'f::1',
    ]);
  });

  test('[SDK-7] of the engine may change their meaning, and an undefined number is answered with an error', () => {
    const { wire, receiver } = setUp();
    const messages = new MessageBuffer();
    messages.call(engineCall({ functionNumber: NAMES_MAX - 1 }));
    for (const name of ['first', 'second']) {
      messages.name(NAMES_MAX - 1, name);
      messages.call(engineCall({ functionNumber: NAMES_MAX - 1 }));
    }
    wire.receive(messages.view(), receiver);
    expect(receiver.heard).toMatchObject([
      [
        'broken call',
        { idLow: 5, idHigh: 6 },
        { code: 'BAD_REQUEST', message: expect.stringContaining('function number 65535 was never given a name') },
      ],
      ['call', { functionId: 'first' }, null],
      ['call', { functionId: 'second' }, null],
    ]);
  });
});

describe('a batch of the engine that is malformed', () => {
  const good = rawJson({ type: 'draining' });

  /** The events of a message between two valid ones, after `spoil` has changed it. */
  function heardAround(write: (messages: MessageBuffer) => void, spoil: (message: Buffer) => void): unknown[][] {
    const { wire, receiver } = setUp();
    const messages = new MessageBuffer();
    messages.control(good);
    const start = messages.length;
    write(messages);
    const end = messages.length;
    messages.control(good);
    const bytes = Buffer.from(messages.view());
    spoil(bytes.subarray(start, end));
    wire.receive(bytes, receiver);
    return receiver.heard;
  }

  test('[SDK-7] loses only the unreadable message', () => {
    const bad: [write: (messages: MessageBuffer) => void, spoil: (message: Buffer) => void][] = [
      [(messages) => messages.control(good), (message) => message.fill('x', 8)],
      [(messages) => messages.control(good), (message) => message.fill(0xff, 8)],
      [(messages) => messages.control(rawJson({ type: 'invokefunction' })), () => {}],
      [(messages) => messages.control(rawJson({ type: 'ping' }).slice(0, 0) as typeof good), () => {}],
    ];
    for (const [write, spoil] of bad) {
      expect(heardAround(write, spoil).map(([kind]) => kind)).toEqual(['frame', 'unreadable', 'frame']);
    }
  });

  test('[SDK-7] is dropped from a message with an invalid header on', () => {
    const bad: [write: (messages: MessageBuffer) => void, spoil: (message: Buffer) => void][] = [
      [(messages) => messages.control(good), (message) => message.writeUInt8(99, 4)],
      [(messages) => messages.control(good), (message) => message.writeUInt8(0, 4)],
      [(messages) => messages.control(rawJson(1)), (message) => message.writeUInt8(2, 4)],
      [(messages) => messages.control(rawJson(1)), (message) => message.writeUInt8(3, 4)],
      [(messages) => messages.control(rawJson(1)), (message) => message.writeUInt8(4, 4)],
      [(messages) => messages.name(5, 'x'), (message) => message.writeUInt32LE(NAMES_MAX, 8)],
    ];
    for (const [write, spoil] of bad) {
      expect(heardAround(write, spoil).map(([kind]) => kind)).toEqual(['frame', 'unreadable']);
    }
  });

  test('[SDK-7] is dropped from a message with a wrong length on', () => {
    for (const length of [0, 1, 3, 51, 0x7fff_ffff, 0xffff_ffff]) {
      const heard = heardAround(
        (messages) => messages.control(good),
        (message) => message.writeUInt32LE(length, 0),
      );
      expect(heard, String(length)).toEqual([
        ['frame', { type: 'draining' }],
        ['unreadable', expect.stringContaining('a message at byte 27 claims')],
      ]);
    }
    const { wire, receiver } = setUp();
    wire.receive(Buffer.from([1]), receiver);
    expect(receiver.kinds).toEqual(['unreadable']);
  });

  test('[I1] still answers a call whose payload or sections cannot be read', () => {
    const withName = (messages: MessageBuffer): void => messages.name(0, 'a::b');
    const payload = Payload.ofText(rawJson({ x: 1 }));
    const brokenCall = ['broken call', { idLow: 5, idHigh: 6, functionId: 'a::b' }, { code: 'BAD_REQUEST' }];
    const next = ['frame', {}];
    const bad: [call: Parameters<MessageBuffer['call']>[0], spoil: (message: Buffer) => void, following: unknown[]][] =
      [
        [engineCall({ payload }), (message) => message.fill('x', 16 + 24), [next]],
        [engineCall({ metadata: payload }), (message) => message.fill('x', 16 + 28), [next]],
        [engineCall({ extra: rawJson({}), payload }), (message) => message.writeUInt32LE(3, 16 + 24), [next]],
        [engineCall({ metadata: payload }), (message) => message.writeUInt32LE(1_000_000, 16 + 24), []],
      ];
    for (const [call, spoil, following] of bad) {
      const heard = heardAround((messages) => {
        withName(messages);
        messages.call(call);
      }, spoil);
      expect(heard).toMatchObject([next, brokenCall, ...following]);
    }
  });

  test('[I1] fails the call whose answer is not JSON', () => {
    const heard = heardAround(
      (messages) => messages.result(9, 0, Payload.ofText(rawJson('text')), false),
      (message) => message.fill('x', 16),
    );
    const error = { code: 'BAD_REQUEST', message: expect.stringMatching(/^the answer could not be read: /) };
    expect(heard[1]).toEqual(['error', 9, error, undefined]);
  });

  test('[SDK-7] is not a text message', () => {
    const { wire, receiver } = setUp();
    wire.receive('{"type":"draining"}', receiver);
    expect(receiver.kinds).toEqual(['unreadable']);
  });
});

function engineCall(fields: Partial<Parameters<MessageBuffer['call']>[0]>): Parameters<MessageBuffer['call']>[0] {
  return {
    idLow: 5,
    idHigh: 6,
    functionNumber: 0,
    depth: 1,
    timeoutMs: 1,
    metadata: undefined,
    traceparent: undefined,
    baggage: undefined,
    extra: undefined,
    payload: undefined,
    ...fields,
  };
}
