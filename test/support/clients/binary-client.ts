// A connection of the binary form without an SDK: the test writes every message.

import { WebSocket } from 'ws';
import { FLAG, KIND } from '../../../src/protocol/binary/binary-layout.ts';
import { BatchReader, type BatchVisitor, MessageBuffer } from '../../../src/protocol/binary/binary-messages.ts';
import { SUBPROTOCOL_MSGPACK } from '../../../src/protocol/frames/subprotocols.ts';
import { parseRawJson, rawJson } from '../../../src/protocol/json/byte-string.ts';
import { MessagePackForm } from '../../../src/protocol/payload/message-pack.ts';
import { Payload } from '../../../src/protocol/payload/payload.ts';
import { within } from '../wait-for.ts';
import { opened } from './opened.ts';
import type { Goodbye } from './raw-worker.ts';

export interface BinaryAnswer {
  readonly isError: boolean;
  readonly value: unknown;
}

/** The name number that this client uses for every function that it calls. */
const NUMBER = 65_535;
/** Ids of its own calls are above the ids that a test chooses. */
const FIRST_ID = 0xf000_0000;
const WAIT_MS_MAX = 5_000;
const MESSAGE_PACK = new MessagePackForm();

export class BinaryClient implements AsyncDisposable {
  readonly socket: WebSocket;
  /** How the connection ended. */
  readonly closed: Promise<Goodbye>;
  readonly #reader = new BatchReader();
  readonly #waiting = new Map<number, (answer: BinaryAnswer) => void>();
  #nextId = FIRST_ID;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on('message', (data: Buffer) => this.#reader.read(asOfWorker(data), this.#visitorOf(data)));
    // The close event that follows has the details.
    socket.on('error', () => {});
  }

  static async connect(url: string, subprotocol: string = SUBPROTOCOL_MSGPACK): Promise<BinaryClient> {
    const client = new BinaryClient(new WebSocket(url, [subprotocol], { perMessageDeflate: false }));
    // `once` rejects with the socket's own error when the upgrade is refused.
    await opened(client.socket);
    return client;
  }

  /** Calls a function and returns its answer. */
  async call(functionId: string, data: unknown): Promise<BinaryAnswer> {
    return await this.#callWith(functionId, Payload.ofText(rawJson(data)));
  }

  /** The same with bytes of MessagePack, valid or not. */
  async callPacked(functionId: string, bytes: Buffer): Promise<BinaryAnswer> {
    return await this.#callWith(functionId, Payload.ofPacked(bytes, 0, bytes.length, MESSAGE_PACK));
  }

  async #callWith(functionId: string, payload: Payload): Promise<BinaryAnswer> {
    const idLow = this.#nextId++;
    const messages = new MessageBuffer();
    messages.name(NUMBER, functionId);
    messages.call({
      idLow,
      idHigh: 0,
      functionNumber: NUMBER,
      depth: 0,
      timeoutMs: 0,
      metadata: undefined,
      traceparent: undefined,
      baggage: undefined,
      extra: undefined,
      payload,
    });
    const answered = new Promise<BinaryAnswer>((resolve) => this.#waiting.set(idLow, resolve));
    this.socket.send(messages.view());
    return await within(WAIT_MS_MAX, `${functionId} answers`, answered);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
    await this.closed;
  }

  #visitorOf(message: Buffer): BatchVisitor {
    const refuse = (reason: string): never => {
      throw new Error(`The engine sent an unreadable message: ${reason}`);
    };
    return {
      shape: () => {},
      control: () => {},
      name: () => {},
      call: () => {},
      result: ({ idLow, flags, payloadStart, payloadEnd }) => {
        const take = this.#waiting.get(idLow);
        // The answer to a call that the test wrote itself, and not always JSON.
        if (take === undefined) return;
        this.#waiting.delete(idLow);
        const isError = (flags & FLAG.isError) !== 0;
        if ((flags & FLAG.payload) === 0) take({ isError, value: undefined });
        else take({ isError, value: readPayload(flags, message, payloadStart, payloadEnd) });
      },
      refuse,
      refuseCall: (_idLow, _isVoid, reason) => refuse(reason),
      refuseResult: (_idLow, _idHigh, reason) => refuse(reason),
    };
  }
}

function readPayload(flags: number, message: Buffer, start: number, end: number): unknown {
  if ((flags & FLAG.packed) === 0) return JSON.parse(message.toString('utf8', start, end));
  const text = MESSAGE_PACK.textOf(message, start, end);
  if (text === undefined) throw new Error('The engine sent a payload that is not MessagePack');
  return parseRawJson(text);
}

/** The reader is that of the engine, which does not know the flag of a call to a worker. */
function asOfWorker(message: Buffer): Buffer {
  for (let at = 0; at < message.length; at += 4 + message.readUInt32LE(at)) {
    if (message[at + 4] === KIND.call) message[at + 5] = (message[at + 5] ?? 0) & ~FLAG.isUntraced;
  }
  return message;
}
