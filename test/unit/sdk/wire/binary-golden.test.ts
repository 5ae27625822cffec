// The binary form, message by message, as files that docs/protocol.md cites: `test/golden/binary/<kind>.json` holds
// messages and their bytes in hex, which neither side generates. The SDK and the engine are both tested against them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FLAG } from '../../../../src/protocol/binary/binary-layout.ts';
import {
  BatchReader,
  type CallHeader,
  MessageBuffer,
  type ResultHeader,
} from '../../../../src/protocol/binary/binary-messages.ts';
import { asByteString, asRawJson, textToByteString } from '../../../../src/protocol/json/byte-string.ts';
import { CompactEncoder } from '../../../../src/protocol/payload/compact-encode.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { nodeMemory } from '../../../../src/sdk/node/memory-node.ts';
import { BinaryReader } from '../../../../src/sdk/wire/binary-reader.ts';
import type { DeliveredCall, Encoded } from '../../../../src/sdk/wire/wire.ts';
import { RecordingReceiver } from '../connection/recording-receiver.ts';
import { written } from './written.ts';

interface Golden<Message> {
  readonly fromWorker: readonly (Message & Case)[];
  readonly toWorker: readonly (Message & Case)[];
}

interface Case {
  readonly case: string;
  readonly hex: string;
}

interface GoldenText {
  readonly text: string;
}

interface GoldenName extends GoldenText {
  readonly number: number;
}

interface GoldenCall {
  readonly idLow: number;
  readonly idHigh: number;
  readonly functionNumber: number;
  readonly timeoutMs: number;
  readonly depth: number;
  readonly isVoid: boolean;
  readonly isUntraced?: boolean;
  readonly metadata?: string;
  readonly traceparent?: string;
  readonly baggage?: string;
  readonly extra?: string;
  readonly payload?: string;
}

interface GoldenResult {
  readonly idLow: number;
  readonly idHigh: number;
  readonly isError: boolean;
  readonly payload?: string;
}

const controls = load<GoldenText>('control');
const names = load<GoldenName>('name');
const shapes = load<GoldenName>('shape');
const calls = load<GoldenCall>('call');
const results = load<GoldenResult>('result');

describe('the SDK writes', () => {
  test.each(controls.fromWorker)('[wire 2.3] CONTROL: $case', ({ text, hex }) => {
    expect(written((writer) => writer.frame(text))).toBe(hex);
  });

  test.each(names.fromWorker)('[wire 2.3] NAME: $case', ({ number, text, hex }) => {
    expect(written((writer) => writer.name(number, text))).toBe(hex);
  });

  test.each(shapes.fromWorker)('[wire 2.4] SHAPE: $case', ({ text, hex }) => {
    expect(written((writer) => writer.shape(text))).toBe(hex);
  });

  test.each(calls.fromWorker)('[wire 2.3] CALL: $case', (one) => {
    const call = {
      number: one.isVoid ? 0 : one.idLow,
      functionId: '',
      timeoutMs: one.timeoutMs,
      action: encoded(one.extra),
      traceparent: one.traceparent,
      baggage: one.baggage,
      depth: one.depth,
      metadata: encoded(one.metadata),
      data: encoded(one.payload),
    };
    expect(written((writer) => writer.call(call, one.functionNumber))).toBe(one.hex);
  });

  test.each(results.fromWorker)('[wire 2.3] RESULT: $case', ({ idLow, idHigh, payload, isError, hex }) => {
    expect(written((writer) => writer.result(idLow, idHigh, encoded(payload), isError))).toBe(hex);
  });
});

describe('the engine reads what the SDK writes', () => {
  test.each(controls.fromWorker)('[wire 2.3] CONTROL: $case', ({ text, hex }) => {
    expect(readByEngine(hex)).toEqual([{ text }]);
  });

  test.each(names.fromWorker)('[wire 2.3] NAME: $case', ({ number, text, hex }) => {
    expect(readByEngine(hex)).toEqual([{ number, text }]);
  });

  test.each(shapes.fromWorker)('[wire 2.4] SHAPE: $case', ({ text, hex }) => {
    expect(readByEngine(hex)).toEqual([{ keyList: text }]);
  });

  test.each(calls.fromWorker)('[wire 2.3] CALL: $case', ({ case: _case, hex, ...call }) => {
    expect(readByEngine(hex)).toEqual([call]);
  });

  test.each(results.fromWorker)('[wire 2.3] RESULT: $case', ({ case: _case, hex, ...result }) => {
    expect(readByEngine(hex)).toEqual([result]);
  });
});

describe('the engine writes', () => {
  test.each(controls.toWorker)('[wire 2.3] CONTROL: $case', ({ text, hex }) => {
    expect(writtenByEngine((messages) => messages.control(textToByteString(text)))).toBe(hex);
  });

  test.each(names.toWorker)('[wire 2.3] NAME: $case', ({ number, text, hex }) => {
    expect(writtenByEngine((messages) => messages.name(number, text))).toBe(hex);
  });

  test.each(shapes.toWorker)('[wire 2.4] SHAPE: $case', ({ number, text, hex }) => {
    expect(writtenByEngine((messages) => messages.shape(number, text))).toBe(hex);
  });

  test.each(calls.toWorker)('[wire 2.3] CALL: $case', (one) => {
    const call = {
      ...one,
      isUntraced: one.isUntraced === true,
      metadata: payloadOf(one.metadata),
      traceparent: one.traceparent,
      baggage: one.baggage,
      extra: one.extra === undefined ? undefined : asByteString(one.extra),
      payload: payloadOf(one.payload),
    };
    expect(writtenByEngine((messages) => messages.call(call))).toBe(one.hex);
  });

  test.each(results.toWorker)('[wire 2.3] RESULT: $case', ({ idLow, idHigh, payload, isError, hex }) => {
    expect(writtenByEngine((messages) => messages.result(idLow, idHigh, payloadOf(payload), isError))).toBe(hex);
  });
});

describe('the SDK reads what the engine writes', () => {
  test.each(controls.toWorker)('[wire 2.3] CONTROL: $case', ({ text, hex }) => {
    expect(readBySdk(hex).heard).toEqual([['frame', JSON.parse(text)]]);
  });

  test.each(names.toWorker)('[wire 2.3] NAME: $case', ({ number, text, hex }) => {
    const call = Buffer.alloc(24);
    call.writeUInt32LE(20);
    call[4] = 3;
    call.writeUInt32LE(number, 16);
    expect(readBySdk(hex + call.toString('hex')).heard).toMatchObject([['call', { functionId: text }, null]]);
  });

  test.each(shapes.toWorker)('[wire 2.4] SHAPE: $case', ({ number, text, hex }) => {
    const object = Object.fromEntries(JSON.parse(text).map((key: string, at: number) => [key, at]));
    const items = Buffer.from([0x80, 0, 1, number & 0xff, number >> 8, 3, 0, 0, 0, 1]);
    const result = Buffer.alloc(16);
    result.writeUInt32LE(12 + items.length);
    result[4] = 4;
    result[5] = 32 + 128;
    const encoder = new CompactEncoder(nodeMemory, () => {});
    const receiver = new RecordingReceiver();
    new BinaryReader(nodeMemory, encoder).read(Buffer.concat([Buffer.from(hex, 'hex'), result, items]), receiver);
    expect(receiver.heard).toEqual([['result', 0, object]]);
    expect(encoder.encode(object)?.length, 'and it is used for what is sent').toBe(items.length);
  });

  test.each(calls.toWorker)('[wire 2.3] CALL: $case', (one) => {
    const name = written((writer) => writer.name(one.functionNumber, 'math::add'));
    const call: DeliveredCall = {
      functionId: 'math::add',
      idText: undefined,
      idLow: one.idLow,
      idHigh: one.idHigh,
      timeoutMs: one.timeoutMs,
      depth: one.depth,
      traceparent: one.traceparent,
      isUntraced: one.isUntraced === true,
      baggage: one.baggage,
      metadata: parsed(one.metadata),
      trigger: one.extra === undefined ? undefined : JSON.parse(one.extra),
      isRequest: false,
    };
    expect(readBySdk(name + one.hex).heard).toEqual([['call', call, parsed(one.payload) ?? null]]);
  });

  test.each(results.toWorker)('[wire 2.3] RESULT: $case', ({ idLow, payload, isError, hex }) => {
    const value = parsed(payload);
    expect(readBySdk(hex).heard).toEqual([isError ? ['error', idLow, value, undefined] : ['result', idLow, value]]);
  });
});

function load<Message>(kind: string): Golden<Message> {
  return JSON.parse(readFileSync(join(import.meta.dirname, `../../../golden/binary/${kind}.json`), 'utf8'));
}

function writtenByEngine(write: (messages: MessageBuffer) => void): string {
  const messages = new MessageBuffer();
  write(messages);
  return messages.view().toString('hex');
}

function readBySdk(hex: string): RecordingReceiver {
  const receiver = new RecordingReceiver();
  new BinaryReader(nodeMemory, new CompactEncoder(nodeMemory, () => {})).read(Buffer.from(hex, 'hex'), receiver);
  return receiver;
}

function readByEngine(hex: string): object[] {
  const bytes = Buffer.from(hex, 'hex');
  const heard: object[] = [];
  const text = (start: number, end: number): string => bytes.toString('utf8', start, end);
  const visitor = {
    shape: (start: number, end: number) => void heard.push({ keyList: text(start, end) }),
    control: (start: number, end: number) => void heard.push({ text: text(start, end) }),
    name: (number: number, start: number, end: number) => void heard.push({ number, text: text(start, end) }),
    call: (header: Readonly<CallHeader>) => void heard.push(readCall(header, text)),
    result: ({ idLow, idHigh, flags, payloadStart, payloadEnd }: Readonly<ResultHeader>) =>
      void heard.push({
        idLow,
        idHigh,
        isError: (flags & FLAG.isError) !== 0,
        ...((flags & FLAG.payload) === 0 ? {} : { payload: text(payloadStart, payloadEnd) }),
      }),
    refuse: (reason: string) => void heard.push({ reason }),
    refuseCall: (_idLow: number, _isVoid: boolean, reason: string) => void heard.push({ reason }),
    refuseResult: (_idLow: number, _idHigh: number, reason: string) => void heard.push({ reason }),
  };
  new BatchReader().read(bytes, visitor);
  return heard;
}

function readCall(header: Readonly<CallHeader>, text: (start: number, end: number) => string): GoldenCall {
  const { idLow, idHigh, functionNumber, timeoutMs, depth, flags } = header;
  const part = <Name extends string>(flag: number, name: Name, start: number, end: number) =>
    (flags & flag) === 0 ? {} : { [name]: text(start, end) };
  return {
    idLow,
    idHigh,
    functionNumber,
    timeoutMs,
    depth,
    isVoid: (flags & FLAG.isVoid) !== 0,
    ...part(FLAG.metadata, 'metadata', header.metadataStart + 4, header.metadataEnd),
    ...part(FLAG.traceparent, 'traceparent', header.traceparentStart + 4, header.traceparentEnd),
    ...part(FLAG.baggage, 'baggage', header.baggageStart + 4, header.baggageEnd),
    ...part(FLAG.extra, 'extra', header.extraStart + 4, header.extraEnd),
    ...part(FLAG.payload, 'payload', header.payloadStart, header.payloadEnd),
  };
}

function payloadOf(text: string | undefined): Payload | undefined {
  return text === undefined ? undefined : Payload.ofText(asRawJson(textToByteString(text)));
}

/** The files hold JSON text, as the encoder writes it. */
function encoded(text: string | undefined): Encoded | undefined {
  return text as Encoded | undefined;
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
