// An end of a binary connection to an engine in memory: the test writes and reads every message.

import { CompactPayloads } from '../../../../src/core/calls/compact-payloads.ts';
import { FLAG, HEADER_BYTES } from '../../../../src/protocol/binary/binary-layout.ts';
import {
  BatchReader,
  type CallHeader,
  MessageBuffer,
  type ResultHeader,
} from '../../../../src/protocol/binary/binary-messages.ts';
import { SUBPROTOCOL_COMPACT, type Subprotocol } from '../../../../src/protocol/frames/subprotocols.ts';
import { parseRawJson, RAW_NULL } from '../../../../src/protocol/json/byte-string.ts';
import { nodeText } from '../../../../src/protocol/json/node-bytes.ts';
import { CompactDecoder } from '../../../../src/protocol/payload/compact-decode.ts';
import { CompactEncoder } from '../../../../src/protocol/payload/compact-encode.ts';
import { MessagePackForm } from '../../../../src/protocol/payload/message-pack.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { readShape, type Shape } from '../../../../src/protocol/payload/shape.ts';
import type { Guard } from '../../../../src/router/restricted/guard.ts';
import { nodeMemory } from '../../../../src/sdk/node/memory-node.ts';
import type { SocketEvents } from '../../../../src/transport/socket.ts';
import type { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { FakeSocket } from '../../../support/fakes/fake-socket.ts';

export interface Heard {
  readonly kind: 'shape' | 'call' | 'result' | 'error' | 'refused';
  readonly number?: number;
  readonly idLow?: number;
  readonly idHigh?: number;
  /** As it came: the value in the form it had. */
  readonly value?: unknown;
  readonly isPacked?: boolean;
}

/** An end of a binary connection whose every message the test writes and reads. */
export class Peer {
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
