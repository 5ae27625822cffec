// Compact payloads on their way through the engine: passed on unchanged where the other side can read them, after the
// shapes it needs, and converted everywhere else.

import { describe, expect, test } from 'vitest';
import { CompactPayloads } from '../../../../src/core/calls/compact-payloads.ts';
import { FLAG, HEADER_BYTES, KIND } from '../../../../src/protocol/binary/binary-layout.ts';
import {
  BatchReader,
  type CallHeader,
  MessageBuffer,
  type ResultHeader,
} from '../../../../src/protocol/binary/binary-messages.ts';
import {
  SUBPROTOCOL_COMPACT,
  SUBPROTOCOL_MSGPACK,
  type Subprotocol,
} from '../../../../src/protocol/frames/subprotocols.ts';
import { parseRawJson, RAW_NULL } from '../../../../src/protocol/json/byte-string.ts';
import { nodeText } from '../../../../src/protocol/json/node-bytes.ts';
import { CompactDecoder } from '../../../../src/protocol/payload/compact-decode.ts';
import { CompactEncoder } from '../../../../src/protocol/payload/compact-encode.ts';
import { MessagePackForm } from '../../../../src/protocol/payload/message-pack.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { readShape, SHAPES_ASKED_MAX, SHAPES_MAX, type Shape } from '../../../../src/protocol/payload/shape.ts';
import { Guard } from '../../../../src/router/restricted/guard.ts';
import { nodeMemory } from '../../../../src/sdk/node/memory-node.ts';
import type { SocketEvents } from '../../../../src/transport/socket.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { FakeSocket } from '../../../support/fakes/fake-socket.ts';
import { mutatedBatch } from '../../../support/random/binary-mutations.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

interface Heard {
  readonly kind: 'shape' | 'call' | 'result' | 'error' | 'refused';
  readonly number?: number;
  readonly idLow?: number;
  readonly idHigh?: number;
  /** As it came: the value in the form it had. */
  readonly value?: unknown;
  readonly isPacked?: boolean;
}

const ORDER = { id: 'o-1', items: [{ sku: 'größe', price: 9.5 }], note: null };

/** An end of a binary connection whose every message the test writes and reads. */
class Peer {
  readonly encoder = new CompactEncoder(nodeMemory, (keyList) => this.asked.push(keyList));
  readonly asked: string[] = [];
  readonly shapes: (Shape | undefined)[] = [];
  readonly #engine: EngineInMemory;
  readonly #socket = new FakeSocket();
  readonly #events: SocketEvents;
  readonly #decoder = new CompactDecoder(nodeText, (number) => this.shapes[number]);
  readonly #subprotocol: Subprotocol;
  #taken = 0;

  constructor(engine: EngineInMemory, subprotocol: Subprotocol, guard?: Guard) {
    this.#engine = engine;
    this.#subprotocol = subprotocol;
    this.#events = engine.connectSocket(this.#socket, subprotocol, guard);
  }

  write(write: (messages: MessageBuffer) => void): void {
    const messages = new MessageBuffer();
    write(messages);
    this.send(messages.view());
  }

  send(batch: Buffer): void {
    // As the engine's sockets hand them over: gone when the call returns.
    const bytes = Buffer.from(batch);
    this.#events.message(bytes, true);
    bytes.fill(0xee);
    this.#engine.flush();
  }

  register(id: string): void {
    const text = JSON.stringify({ type: 'registerfunction', id });
    this.write((messages) => messages.control(text as Parameters<MessageBuffer['control']>[0]));
  }

  /** Asks for numbers as the SDK does. */
  ask(): void {
    for (const keyList of this.asked.splice(0)) this.write((messages) => messages.shape(0, keyList));
  }

  /** The value in the compact form, or the given bytes as if they were. */
  compact(value: unknown): Payload {
    const bytes = value instanceof Buffer ? value : this.compactBytes(value);
    return Payload.ofPacked(bytes, 0, bytes.length, new CompactPayloads());
  }

  call(functionId: string, payload: Payload, idLow = 7): void {
    this.write((messages) => {
      messages.name(0, functionId);
      messages.call({
        idLow,
        idHigh: 0,
        functionNumber: 0,
        depth: 0,
        timeoutMs: 0,
        metadata: undefined,
        traceparent: undefined,
        baggage: undefined,
        extra: undefined,
        payload,
      });
    });
  }

  answer({ idLow = 0, idHigh = 0 }: Heard, payload: Payload): void {
    this.write((messages) => messages.result(idLow, idHigh, payload, false));
  }

  /** What arrived since the last call, without control frames and names. */
  take(): Heard[] {
    const heard: Heard[] = [];
    for (const batch of this.#socket.batches.slice(this.#taken)) this.#read(Buffer.from(batch), heard);
    this.#taken = this.#socket.batches.length;
    return heard;
  }

  compactBytes(value: unknown): Buffer {
    this.encoder.release();
    const payload = this.encoder.encode(value);
    if (payload === undefined) throw new Error('given back');
    return Buffer.from(this.encoder.memory.slice(payload.start, payload.start + payload.length));
  }

  #unpack(bytes: Buffer, start: number, end: number): unknown {
    if (this.#subprotocol === SUBPROTOCOL_COMPACT) return this.#decoder.decode(bytes, start, end);
    return parseRawJson(new MessagePackForm().textOf(bytes, start, end) ?? RAW_NULL);
  }

  #read(bytes: Buffer, heard: Heard[]): void {
    const value = (header: Pick<CallHeader, 'flags' | 'payloadStart' | 'payloadEnd'>): Partial<Heard> => {
      const { flags, payloadStart, payloadEnd } = header;
      if ((flags & FLAG.payload) === 0) return {};
      const isPacked = (flags & FLAG.packed) !== 0;
      try {
        const text = (): string => bytes.toString('utf8', payloadStart, payloadEnd);
        return {
          isPacked,
          value: isPacked ? this.#unpack(bytes, payloadStart, payloadEnd) : JSON.parse(text()),
        };
      } catch (error) {
        // The engine passes it on unread: the receiver finds the error.
        return { isPacked, value: error };
      }
    };
    const refuse = (): void => void heard.push({ kind: 'refused' });
    new BatchReader().read(bytes, {
      control() {},
      name() {},
      shape: (start, end) => {
        const number = bytes.readUInt32LE(start - HEADER_BYTES.shape + 8);
        const shape = readShape(bytes.toString('utf8', start, end));
        if (shape === undefined) throw new Error('The engine sent an invalid shape');
        this.shapes[number] = shape;
        this.encoder.learn(shape, number);
        heard.push({ kind: 'shape', number, value: shape.keys });
      },
      call: ({ idLow, idHigh, ...header }) => heard.push({ kind: 'call', idLow, idHigh, ...value(header) }),
      result: ({ idLow, idHigh, ...header }: Readonly<ResultHeader>) => {
        heard.push({ kind: (header.flags & FLAG.isError) === 0 ? 'result' : 'error', idLow, idHigh, ...value(header) });
      },
      refuse,
      refuseCall: refuse,
      refuseResult: refuse,
    });
  }
}

function setUp() {
  const engine = new EngineInMemory({
    builtins: [{ id: 'engine::echo', description: '', handle: (payload: unknown) => ({ got: payload }) }],
  });
  const [caller, worker, portable] = [
    new Peer(engine, SUBPROTOCOL_COMPACT),
    new Peer(engine, SUBPROTOCOL_COMPACT),
    new Peer(engine, SUBPROTOCOL_MSGPACK),
  ];
  worker.register('f');
  portable.register('portable');
  const json = engine.connect();
  json.register('json');
  for (const peer of [caller, worker, portable]) peer.take();
  return { engine, caller, worker, portable, json };
}

/** The caller knows the numbers of everything in the value. */
function teach(caller: Peer, value: unknown): void {
  for (let round = 0; round < 2; round++) caller.compact(value);
  caller.ask();
  caller.take();
}

describe('a compact payload', () => {
  test('[wire 2.4] reaches a worker unchanged, after the shapes that the worker does not have yet', () => {
    const { caller, worker } = setUp();
    teach(caller, ORDER);
    caller.call('f', caller.compact(ORDER));
    const [first, second, call, ...rest] = worker.take();
    expect([first?.value, second?.value]).toEqual([
      ['sku', 'price'],
      ['id', 'items', 'note'],
    ]);
    expect(call).toMatchObject({ kind: 'call', isPacked: true, value: ORDER });
    expect(rest).toEqual([]);
    caller.call('f', caller.compact(ORDER));
    expect(
      worker.take().map(({ kind }) => kind),
      'once',
    ).toEqual(['call']);
  });

  test('[wire 2.4] returns with shape numbers that the caller knows', () => {
    const { caller, worker } = setUp();
    teach(caller, ORDER);
    caller.call('f', caller.compact(ORDER));
    const call = worker.take().at(-1);
    if (call === undefined) throw new Error('No call came');
    worker.answer(call, worker.compact(ORDER));
    expect(worker.asked, 'nothing is left to ask').toEqual([]);
    expect(caller.take()).toEqual([{ kind: 'result', idLow: 7, idHigh: 0, isPacked: true, value: ORDER }]);
  });

  test('[wire 2.4] may hold its keys', () => {
    const { caller, worker } = setUp();
    caller.call('f', caller.compact(ORDER));
    expect(worker.take()).toMatchObject([{ kind: 'call', isPacked: true, value: ORDER }]);
  });

  test('[wire 2.4] becomes JSON for a worker of the JSON form', () => {
    const { caller, json } = setUp();
    teach(caller, ORDER);
    caller.call('json', caller.compact(ORDER));
    expect(json.nextCall()).toMatchObject({ function_id: 'json', data: ORDER });
  });

  test('[wire 2.4] becomes JSON for a caller that cannot read it', () => {
    const { engine, worker, json } = setUp();
    teach(worker, ORDER);
    const id = json.invoke('f', 1);
    engine.flush();
    const [first] = worker.take();
    worker.answer(first ?? { kind: 'call' }, worker.compact(ORDER));
    expect(json.answerTo(id).result).toEqual(ORDER);
  });

  test('[wire 2.4] is read by functions of the engine, which answer in JSON', () => {
    const { caller } = setUp();
    caller.call('engine::echo', caller.compact(ORDER));
    expect(caller.take()).toMatchObject([{ kind: 'result', isPacked: false, value: { got: ORDER } }]);
  });

  test('[I1] that cannot be read ends only its call', () => {
    const { caller, worker, engine } = setUp();
    teach(caller, ORDER);
    const unknownShape = Buffer.from('800000' + '0f0f' + '030000' + '0001', 'hex');
    const noTail = Buffer.from('01', 'hex');
    for (const bytes of [unknownShape, noTail]) {
      caller.call('f', caller.compact(bytes));
      expect(caller.take()).toMatchObject([{ kind: 'error', idLow: 7, value: { code: 'BAD_REQUEST' } }]);
    }
    const rubbish = Buffer.from('ff' + '01000000' + '00', 'hex');
    for (const functionId of ['json', 'portable', 'engine::echo']) {
      caller.call(functionId, caller.compact(rubbish));
      expect(caller.take()).toMatchObject([{ kind: 'error', idLow: 7, value: { code: 'BAD_REQUEST' } }]);
    }
    caller.call('f', caller.compact(ORDER));
    const call = worker.take().at(-1);
    worker.answer(call ?? { kind: 'call' }, worker.compact(noTail));
    expect(caller.take()).toMatchObject([{ kind: 'error', value: { code: 'BAD_REQUEST' } }]);
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[wire 2.4] a shape on a connection without compact payloads is refused', () => {
    const { portable, engine } = setUp();
    portable.write((messages) => messages.shape(0, '["a"]'));
    expect(portable.take()).toEqual([]);
    expect(engine.count('frames.refused')).toBe(1);
  });
});

describe('randomly damaged messages', () => {
  test('[fault 33] on one connection do not affect another', () => {
    forEachSeed(60, (random) => {
      const { engine, caller, worker } = setUp();
      const attacker = new Peer(engine, SUBPROTOCOL_COMPACT);
      for (let count = 0; count < 25; count++) {
        const batch = mutatedBatch(random, 'fromWorker');
        // Kind and flags of the first message: often a call or a result with a compact payload, or a shape.
        if (batch.length > 6 && random.chance(50)) batch[5] = (batch[5] ?? 0) | FLAG.packed | FLAG.payload;
        if (batch.length > 6 && random.chance(20)) batch[4] = KIND.shape;
        attacker.send(batch);
        attacker.call('f', attacker.compact(damaged(random, attacker.compactBytes(ORDER))));
        attacker.take();
      }
      worker.take();
      teach(caller, ORDER);
      caller.call('f', caller.compact(ORDER));
      const call = worker.take().at(-1);
      expect(call).toMatchObject({ kind: 'call', value: ORDER });
      worker.answer(call ?? { kind: 'call' }, worker.compact(ORDER));
      expect(caller.take().at(-1)).toMatchObject({ kind: 'result', idLow: 7, value: ORDER });
    });
  });
});

function damaged(random: SeededRandom, bytes: Buffer): Buffer {
  for (let fault = random.below(4); fault > 0; fault--) bytes[random.below(bytes.length)] = random.below(256);
  return random.chance(30) ? bytes.subarray(random.below(bytes.length)) : bytes;
}

describe('shape numbers', () => {
  test('[wire 2.4] are the same for all connections that ask for them', () => {
    const { caller, worker } = setUp();
    caller.write((messages) => messages.shape(0, '["a","b"]'));
    caller.write((messages) => messages.shape(0, '["b","a"]'));
    worker.write((messages) => messages.shape(0, ' [ "a", "\\u0062" ] '));
    const shapesSent = [
      { kind: 'shape', number: 0, value: ['a', 'b'] },
      { kind: 'shape', number: 1, value: ['b', 'a'] },
    ];
    expect(caller.take()).toEqual(shapesSent);
    expect(worker.take()).toEqual([shapesSent[0]]);
  });

  test('[wire 2.4] in an invalid list are refused, and the connection stays open', () => {
    const { caller, engine } = setUp();
    for (const text of ['', '{}', '["a","a"]', '["__proto__"]', `["${'k'.repeat(1024)}"]`]) {
      caller.write((messages) => messages.shape(0, text));
    }
    expect(engine.count('frames.refused')).toBe(5);
    caller.write((messages) => messages.shape(0, '["a"]'));
    expect(caller.take()).toMatchObject([{ kind: 'shape', number: 0 }]);
  });

  test('[wire 2.4] are not given to a restricted connection, whose payloads hold their keys', () => {
    const { engine, worker } = setUp();
    const none = { functions: undefined, triggers: undefined, triggerTypes: undefined };
    const rules = { access: undefined, rate: undefined, port: { hooks: none, middlewareFunctionId: undefined } };
    const guard = new Guard({
      ...{ ...rules, askMsMax: 1000 },
      ...{ idleUntilMs: Number.POSITIVE_INFINITY, expiresAtMs: Number.POSITIVE_INFINITY },
    });
    const guest = new Peer(engine, SUBPROTOCOL_COMPACT, guard);
    guest.write((messages) => messages.shape(0, '["a"]'));
    expect(guest.take().map(({ kind }) => kind)).not.toContain('shape');
    expect(engine.count('shapes.refused')).toBe(1);
    guest.call('f', guest.compact(ORDER));
    expect(worker.take()).toMatchObject([{ kind: 'call', isPacked: true, value: ORDER }]);
  });

  test('[guarantees 4] are limited to 1024 per connection and 4096 in all, and refused ones are counted', () => {
    const { engine } = setUp();
    const peers = Array.from({ length: 5 }, () => new Peer(engine, SUBPROTOCOL_COMPACT));
    for (const [of, peer] of peers.entries()) {
      peer.write((messages) => {
        for (let at = 0; at <= SHAPES_ASKED_MAX; at++) messages.shape(0, `["k-${of}-${at}"]`);
      });
    }
    const shapesSent = peers.map((peer) => peer.take().filter(({ kind }) => kind === 'shape').length);
    expect(shapesSent).toEqual([SHAPES_ASKED_MAX, SHAPES_ASKED_MAX, SHAPES_ASKED_MAX, SHAPES_ASKED_MAX, 0]);
    expect(engine.context.compact.shapes.size).toBe(SHAPES_MAX);
    expect(engine.count('shapes.refused')).toBe(4 + 1 + SHAPES_ASKED_MAX);
  });
});
