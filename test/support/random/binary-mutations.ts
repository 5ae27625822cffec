// Messages of the binary form, valid and then damaged in one of many ways, all chosen by a seed: those of a worker for
// the engine, and those of an engine for a worker.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompactPayloads } from '../../../src/core/calls/compact-payloads.ts';
import { HEADER_BYTES, KIND } from '../../../src/protocol/binary/binary-layout.ts';
import { FRAME_MESSAGES_MAX, MessageBuffer } from '../../../src/protocol/binary/binary-messages.ts';
import { rawJson, textToByteString } from '../../../src/protocol/json/byte-string.ts';
import { CompactEncoder } from '../../../src/protocol/payload/compact-encode.ts';
import { MessagePackForm } from '../../../src/protocol/payload/message-pack.ts';
import { Payload } from '../../../src/protocol/payload/payload.ts';
import { nodeMemory } from '../../../src/sdk/node/memory-node.ts';
import { mutatedFrame } from './frame-mutations.ts';
import type { SeededRandom } from './seeded-random.ts';

export type Direction = 'fromWorker' | 'toWorker';

/** One WebSocket message with a few messages of the binary form, damaged or not. */
export function mutatedBatch(random: SeededRandom, direction: Direction): Buffer {
  return random.pick(MUTATIONS)(validBatch(random, direction), random, direction);
}

/** A few valid messages, one after the other. */
function validBatch(random: SeededRandom, direction: Direction): Buffer {
  const messages = Array.from({ length: random.between(1, 5) }, () =>
    random.chance(30) ? random.pick(GOLDEN[direction]) : validMessage(random, direction),
  );
  return Buffer.concat([...(random.chance(80) ? NAMES : []), ...messages]);
}

/** Its own function, one of the engine, and those of a `HealthyPair` of either form, which gets unread payloads. */
const FUNCTIONS = ['fuzz::one', 'engine::functions::list', 'healthy::double', 'healthy::double-binary', 'no::such'];

/** The names that a connection defines before it can make calls. */
const NAMES = FUNCTIONS.map((text, number) => written((messages) => messages.name(number, text)));

const GOLDEN: Readonly<Record<Direction, readonly Buffer[]>> = readGolden();

const CONTROL: Readonly<Record<Direction, readonly object[]>> = {
  fromWorker: [
    { type: 'registerfunction', id: 'fuzz::one', description: 'd', metadata: { a: 1 } },
    { type: 'unregisterfunction', id: 'fuzz::one' },
    { type: 'registertriggertype', id: 'fuzz-type', description: 'd', trigger_request_format: {} },
    { type: 'registertrigger', id: 'tr-1', trigger_type: 'fuzz-type', function_id: 'fuzz::one', config: { a: [1] } },
    { type: 'unregistertrigger', id: 'tr-1', trigger_type: 'fuzz-type' },
    { type: 'triggerregistrationresult', id: 'tr-1', trigger_type: 'fuzz-type', function_id: 'fuzz::one' },
    { type: 'reattach', previous_worker_id: '00000000-0000-4000-8000-000000000000', reattach_token: 'guess' },
    { type: 'invokefunction', invocation_id: 'c-1', function_id: 'fuzz::one', data: 1 },
    { type: 'ping' },
  ],
  toWorker: [
    { type: 'workerregistered', worker_id: 'w-2', reattach_token: 't-2' },
    { type: 'registrationrejected', code: 'X', function_id: 'fuzz::one', namespace: 'default', message: 'm' },
    { type: 'registertrigger', id: 'tr-1', trigger_type: 'fuzz-type', function_id: 'fuzz::one', config: { a: 1 } },
    { type: 'unregistertrigger', id: 'tr-1', trigger_type: 'fuzz-type' },
    { type: 'triggerregistrationresult', id: 'tr-1', trigger_type: 'fuzz-type', function_id: 'f', error: { code: 1 } },
    { type: 'invocationresult', invocation_id: '1', result: 1 },
    { type: 'draining' },
    { type: 'ping' },
  ],
};

const VALUES: readonly unknown[] = [
  null,
  0,
  'é\u{1f600}',
  [],
  { x: [1, { y: 2 }] },
  'x'.repeat(3_000),
  { texts: ['narrow', 'größe', '€\u{1f600}', 'x'.repeat(300)], numbers: [63, 64, -1, 70_000, 0.1, 1e300, null, true] },
  Array.from({ length: 40 }, (_, index) => ({ index, name: `n${index}` })),
];
/** Ids, slots, generations and deadlines from both ends of what four bytes hold. */
const NUMBERS: readonly number[] = [0, 1, 2, 3, 200, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];

function validMessage(random: SeededRandom, direction: Direction): Buffer {
  const payload = random.chance(80) ? validPayload(random) : undefined;
  return written((messages) => {
    const dice = random.below(10);
    if (dice < 2) messages.control(textToByteString(JSON.stringify(random.pick(CONTROL[direction]))));
    else if (dice < 3)
      messages.name(random.pick([0, 1, 2, 3, 65_535]), random.pick(['fuzz::one', 'größe::€', '', ' ']));
    else if (dice < 4) messages.shape(random.pick([0, 1, 4_095, 4_096]), random.pick(KEY_LISTS));
    else if (dice < 6) messages.result(random.pick(NUMBERS), random.pick(NUMBERS), payload, random.chance(40));
    else {
      messages.call({
        idLow: random.pick(NUMBERS),
        idHigh: direction === 'fromWorker' ? 0 : random.pick(NUMBERS),
        functionNumber: random.below(FUNCTIONS.length + 1),
        depth: random.pick([0, 0, 0, 1, 63, 64, 65_535]),
        timeoutMs: random.pick([0, 1, 30_000, 3_600_000]),
        metadata: random.chance(30) ? Payload.ofText(rawJson(random.pick(VALUES))) : undefined,
        traceparent: random.chance(30) ? '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' : undefined,
        baggage: random.chance(30) ? 'svc.depth=3,a=é' : undefined,
        extra: random.chance(20)
          ? rawJson(
              random.pick([
                { type: 'enqueue', queue: 'q' },
                { type: 't', id: 'i' },
              ]),
            )
          : undefined,
        payload,
      });
    }
  });
}

const KEY_LISTS = ['["x"]', '["texts","numbers"]', '["index","name"]', '["__proto__"]', '["a","a"]', '[1]', '{}', ''];
const ENCODER = new CompactEncoder(nodeMemory, () => {});
const COMPACT = new CompactPayloads();
const MESSAGE_PACK = new MessagePackForm();

/** JSON, or one of the packed forms where it can express the value. */
function validPayload(random: SeededRandom): Payload {
  const value = random.pick(VALUES);
  const dice = random.below(4);
  const packed = dice === 0 ? MESSAGE_PACK.write(value) : undefined;
  if (packed !== undefined) return Payload.ofPacked(packed, 0, packed.length, MESSAGE_PACK);
  const encoded = dice < 3 ? ENCODER.encode(value) : undefined;
  if (encoded === undefined) return Payload.ofText(rawJson(value));
  const bytes = Buffer.from(ENCODER.memory.subarray(encoded.start, encoded.start + encoded.length));
  ENCODER.release();
  return Payload.ofPacked(bytes, 0, bytes.length, COMPACT);
}

type Mutation = (batch: Buffer, random: SeededRandom, direction: Direction) => Buffer;

const MUTATIONS: readonly Mutation[] = [
  // As it is: damaged messages must not spoil whole ones among them.
  (batch) => batch,
  (batch, random) => batch.subarray(0, random.below(batch.length)),
  (batch, random) => batch.subarray(random.below(batch.length)),
  flipBits,
  flipBits,
  (batch, random) => putNumber(batch, random.pick(startsOf(batch)), random),
  (batch, random) => putNumber(batch, random.below(batch.length), random),
  (batch, random) => putByte(batch, random.pick(startsOf(batch)) + KIND_AT, random),
  (batch, random) => putByte(batch, random.pick(startsOf(batch)) + FLAGS_AT, random),
  (batch, random) => putNumber(batch, random.pick(startsOf(batch)) + HEADER_BYTES.call, random),
  (batch, random) => putBadText(batch, random),
  spoilEnd,
  spliceTwo,
  (batch) => Buffer.concat([batch, batch]),
  (batch, random) => Buffer.concat([batch, deepMessage(random)]),
  (batch, random) => Buffer.concat([batch, jsonInside(random)]),
  (_batch, random) => Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256))),
  (batch, random, direction) => (random.chance(5) ? tooMany(random) : flipBits(batch, random, direction)),
];

const KIND_AT = 4;
const FLAGS_AT = 5;

/** Where each message begins. */
function startsOf(batch: Buffer): number[] {
  const starts: number[] = [];
  for (let at = 0; at + 4 <= batch.length; at += 4 + batch.readUInt32LE(at)) starts.push(at);
  return starts;
}

function flipBits(batch: Buffer, random: SeededRandom, _direction: Direction): Buffer {
  const bytes = Buffer.from(batch);
  for (let flips = random.between(1, 4); flips > 0; flips--) {
    const at = random.below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  }
  return bytes;
}

/** Some length, count or id becomes another. */
function putNumber(batch: Buffer, at: number, random: SeededRandom): Buffer {
  const bytes = Buffer.from(batch);
  if (at + 4 > bytes.length) return bytes;
  const known = bytes.readUInt32LE(at);
  bytes.writeUInt32LE(random.pick([...NUMBERS, 4, 7, known + 1, known - 1, known + 4]) >>> 0, at);
  return bytes;
}

function putByte(batch: Buffer, at: number, random: SeededRandom): Buffer {
  const bytes = Buffer.from(batch);
  if (at < bytes.length) bytes[at] = random.below(256);
  return bytes;
}

/** The last bytes of a message are where a compact payload says how the rest of it is to be read. */
function spoilEnd(batch: Buffer, random: SeededRandom): Buffer {
  const bytes = Buffer.from(batch);
  const ends = [...startsOf(batch).slice(1), bytes.length];
  const at = random.pick(ends) - random.between(1, 12);
  if (at > 0) bytes[at] = random.pick([0, 1, 2, 3, 0x7f, 0xff, random.below(256)]);
  return bytes;
}

/** Bytes that no UTF-8 text has, somewhere after a header. */
function putBadText(batch: Buffer, random: SeededRandom): Buffer {
  const bytes = Buffer.from(batch);
  const at = Math.min(random.pick(startsOf(batch)) + HEADER_BYTES.control + random.below(60), bytes.length - 1);
  Buffer.from(random.pick(['ff', 'c080', 'eda080', 'f4908080', 'e282']), 'hex').copy(bytes, at);
  return bytes;
}

/** The first part of one and the last of another, cut anywhere. */
function spliceTwo(batch: Buffer, random: SeededRandom, direction: Direction): Buffer {
  const other = validBatch(random, direction);
  return Buffer.concat([batch.subarray(0, random.below(batch.length)), other.subarray(random.below(other.length))]);
}

/** JSON on both sides of the depth limit, and far beyond what a recursive parser survives, wherever JSON may stand. */
function deepMessage(random: SeededRandom): Buffer {
  const depth = random.pick([120, 127, 128, 129, 1_000, 10_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  // An SDK looks through values in which an end of a channel may stand.
  const deep = `{"channel_id":1,"a":${open.repeat(depth)}${random.chance(70) ? `1${close.repeat(depth)}}` : ''}`;
  const payload = Payload.ofBytes(Buffer.from(deep), 0, deep.length);
  const place = random.below(4);
  return written((messages) => {
    if (place === 0) messages.control(textToByteString(`{"type":"registertrigger","id":"t","config":${deep}}`));
    else if (place === 1) messages.result(random.pick(NUMBERS), 0, payload, random.chance(50));
    else {
      messages.call({
        idLow: 1,
        idHigh: 0,
        functionNumber: random.below(FUNCTIONS.length),
        depth: 0,
        timeoutMs: 0,
        metadata: place === 2 ? payload : undefined,
        traceparent: undefined,
        baggage: undefined,
        extra: random.chance(20) ? textToByteString(deep) : undefined,
        payload,
      });
    }
  });
}

/** A frame of the JSON form, whole or damaged, where a frame may stand. */
function jsonInside(random: SeededRandom): Buffer {
  const text = mutatedFrame(random);
  return written((messages) => messages.control(textToByteString(text.toString('utf8'))));
}

/** More messages than one frame may have. */
function tooMany(random: SeededRandom): Buffer {
  const message = random.pick([
    written((messages) => messages.control(textToByteString(''))),
    written((messages) => messages.name(1, '')),
    written((messages) => messages.result(1, 1, undefined, false)),
    Buffer.from([4, 0, 0, 0, random.pick([KIND.call, 0, 99]), 0, 0, 0]),
  ]);
  return Buffer.concat(Array<Buffer>(FRAME_MESSAGES_MAX + 10).fill(message));
}

function written(write: (messages: MessageBuffer) => void): Buffer {
  const messages = new MessageBuffer();
  write(messages);
  return Buffer.from(messages.view());
}

/** The vectors of `test/golden/binary`, whichever there are. */
function readGolden(): Record<Direction, Buffer[]> {
  const folder = join(import.meta.dirname, '../../golden/binary');
  const read: Record<Direction, Buffer[]> = { fromWorker: [], toWorker: [] };
  for (const name of readdirSync(folder)) {
    const file: Partial<Record<Direction, { hex: string }[]>> = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const direction of ['fromWorker', 'toWorker'] as const) {
      read[direction].push(...(file[direction] ?? []).map(({ hex }) => Buffer.from(hex, 'hex')));
    }
  }
  return read;
}
