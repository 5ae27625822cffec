// Records of requests and replies, as files that docs/protocol.md cites. Neither side generates them; the SDK and the
// engine are both tested against them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FLAG } from '../../../../src/protocol/binary/binary-layout.ts';
import { MessageBuffer } from '../../../../src/protocol/binary/binary-messages.ts';
import { replyForm } from '../../../../src/protocol/http/reply-record.ts';
import { RequestRecord } from '../../../../src/protocol/http/request-record.ts';
import { type RequestHead, routeText } from '../../../../src/protocol/http/request-text.ts';
import { asRawJson, parseRawJson, RAW_NULL, textToByteString } from '../../../../src/protocol/json/byte-string.ts';
import { CompactEncoder } from '../../../../src/protocol/payload/compact-encode.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { Channels } from '../../../../src/sdk/channels/channels.ts';
import { nodeMemory } from '../../../../src/sdk/node/memory-node.ts';
import { BinaryReader } from '../../../../src/sdk/wire/binary-reader.ts';
import { encodeReply } from '../../../../src/sdk/wire/reply-encode.ts';
import { resolveSettings } from '../../../../src/sdk/worker/options.ts';
import { FakePlatform } from '../../../support/fakes/fake-platform.ts';
import { RecordingReceiver } from '../connection/recording-receiver.ts';
import { written } from './written.ts';

interface Case {
  readonly case: string;
  readonly hex: string;
}

interface GoldenRoute extends Case {
  readonly number: number;
  readonly text: string;
}

interface GoldenRequest extends Case {
  readonly idLow: number;
  readonly idHigh: number;
  readonly routeNumber: number;
  readonly timeoutMs: number;
  readonly depth: number;
  readonly traceparent?: string;
  readonly head: Omit<RequestHead, 'route' | 'requestIdHeader'>;
  readonly channelName: string;
  readonly context: string;
  readonly body: string;
  /** What the handler gets, as JSON. */
  readonly object: unknown;
}

interface GoldenReply extends Case {
  readonly idLow: number;
  readonly idHigh: number;
  readonly result: unknown;
  /** What the record holds of it, if that differs. */
  readonly shown?: unknown;
}

const [route] = load<{ toWorker: [GoldenRoute] }>('route').toWorker;
const requests = load<{ toWorker: GoldenRequest[] }>('request').toWorker;
const replies = load<{ fromWorker: GoldenReply[] }>('reply').fromWorker;

test('[wire 2.5] the engine writes the route', () => {
  const messages = new MessageBuffer();
  messages.route(route.number, textToByteString(route.text));
  expect(messages.view().toString('hex')).toBe(route.hex);
});

test.each(requests)('[wire 2.5] the engine writes $case', ({ head, channelName, context, body, hex, ...call }) => {
  const { method, path, parameters } = JSON.parse(route.text);
  const whole = { ...head, route: routeText(method, path, parameters), requestIdHeader: 'x-request-id' };
  const channels = { name: channelName, suffix: '-engine', bodyKey: 'bodykey', answerKey: 'answerkey' };
  const bytes = body === 'null' ? RAW_NULL : textToByteString(body);
  const made = context === '' ? '' : textToByteString(context);
  const messages = new MessageBuffer();
  messages.call({
    idLow: call.idLow,
    idHigh: call.idHigh,
    functionNumber: call.routeNumber,
    depth: call.depth,
    timeoutMs: call.timeoutMs,
    metadata: undefined,
    traceparent: call.traceparent,
    baggage: undefined,
    extra: undefined,
    payload: Payload.ofWritten(new RequestRecord(whole, bytes, made, channels)),
  });
  expect(messages.view().toString('hex')).toBe(hex);
});

test.each(requests)('[wire 2.5] the SDK reads $case', ({ hex, object, idLow, idHigh, depth, traceparent }) => {
  const receiver = new RecordingReceiver();
  const bytes = Buffer.from(route.hex + hex, 'hex');
  new BinaryReader(nodeMemory, new CompactEncoder(nodeMemory, () => {})).read(bytes, receiver);
  const [[kind, call, payload] = []] = receiver.heard;
  const { function_id: functionId, trigger, baggage } = JSON.parse(route.text);
  const common = traceparent === undefined ? undefined : baggage;
  expect(kind).toBe('call');
  expect(call).toMatchObject({ functionId, trigger, idLow, idHigh, depth, baggage: common, isRequest: true });
  const platform = new FakePlatform();
  const settings = resolveSettings('ws://engine.test:49134', {}, platform, { headers: {}, subprotocols: [] });
  expect(JSON.parse(JSON.stringify(new Channels(platform, settings).revive(payload)))).toEqual(object);
});

test.each(replies)(
  '[wire 2.5] the SDK writes, and the engine reads, $case',
  ({ idLow, idHigh, result, shown, hex }) => {
    const reply = encodeReply(result);
    if (reply === undefined) throw new Error('It is sent in another form');
    expect(written((writer) => writer.reply(idLow, idHigh, reply))).toBe(hex);
    const message = Buffer.from(hex, 'hex');
    expect(message[5]).toBe(FLAG.payload | FLAG.isReply);
    const read = Payload.ofPacked(message, 16, message.length, replyForm).asText() ?? asRawJson('null');
    expect(parseRawJson(read)).toEqual(shown ?? result);
  },
);

function load<Golden>(kind: string): Golden {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../../golden/binary', `${kind}.json`), 'utf8'));
}
