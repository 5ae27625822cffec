// The binary form with compact payloads, `svc.compact.v2`: many messages in one WebSocket message, calls and results
// with fixed headers, names as numbers, requests and replies as records, and everything else as the JSON frame of the
// other form. An engine that selects `svc.compact.v1` sends no records, and gets none.
//
// Neighbours: `binary-writer.ts` writes the messages, `binary-reader.ts` reads them;
// `protocol/payload/compact-encode.ts` encodes payloads in the compact form.
//
// - Messages leave in the order in which they were added. They wait as objects and are written when they leave; their
//   payloads wait in the encoder.
// - No WebSocket message is longer than the engine accepts, as long as no single message of ours is.
// - A call follows the message that defines the number of its function.

import { HEADER_BYTES, NAMES_MAX } from '../../protocol/binary/binary-layout.ts';
import { REPLY_HEADER_BYTES } from '../../protocol/http/record-layout.ts';
import { CompactEncoder } from '../../protocol/payload/compact-encode.ts';
import type { PlatformMemory, PlatformSocket } from '../worker/platform.ts';
import { BinaryReader } from './binary-reader.ts';
import { BinaryWriter } from './binary-writer.ts';
import { EncodedReply, encodeReply } from './reply-encode.ts';
import {
  answerBytesMax,
  callBytesMax,
  type DeliveredCall,
  type Encoded,
  type EncodedCall,
  type EncodedPayload,
  type EncodedResult,
  encodeValue,
  type FrameReceiver,
  type Wire,
} from './wire.ts';

export class BinaryWire implements Wire {
  readonly #socket: PlatformSocket;
  readonly #memory: PlatformMemory;
  readonly #frameBytesMax: number;
  readonly #writer: BinaryWriter;
  readonly #reader: BinaryReader;
  readonly #encoder: CompactEncoder;
  /** Key lists to request numbers for. */
  #shapes: string[] = [];
  #waiting: (EncodedCall | Answer | string)[] = [];
  /** Functions with a number that the engine knows. */
  readonly #numbers = new Map<string, number>();

  constructor(socket: PlatformSocket, memory: PlatformMemory, frameBytesMax: number) {
    this.#socket = socket;
    this.#memory = memory;
    this.#frameBytesMax = frameBytesMax;
    this.#encoder = new CompactEncoder(memory, (keyList) => this.#shapes.push(keyList));
    this.#writer = new BinaryWriter(memory, this.#encoder);
    this.#reader = new BinaryReader(memory, this.#encoder);
  }

  encode(value: unknown): EncodedPayload | undefined {
    // Payloads that were encoded and then refused are not waiting; release their memory.
    if (this.#waiting.length === 0) this.#encoder.release();
    return this.#encoder.encode(value) ?? encodeValue(value);
  }

  encodeResult(call: DeliveredCall, value: unknown): EncodedResult | undefined {
    return (call.isRequest === true ? encodeReply(value) : undefined) ?? this.encode(value);
  }

  addCall(call: EncodedCall): number {
    this.#waiting.push(call);
    return HEADER_BYTES.call + (call.data?.length ?? 0) + (call.metadata?.length ?? 0);
  }

  addResult(call: DeliveredCall, result: EncodedResult | undefined): number {
    this.#waiting.push(new Answer(call, result, false));
    return HEADER_BYTES.result + (result?.length ?? 0);
  }

  addError(call: DeliveredCall, error: Encoded): number {
    this.#waiting.push(new Answer(call, error, true));
    return HEADER_BYTES.result + error.length;
  }

  addFrame(text: string): number {
    this.#waiting.push(text);
    return HEADER_BYTES.control + text.length;
  }

  flush(): void {
    for (const keyList of this.#shapes) this.#writeShape(keyList);
    this.#shapes = [];
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const message of waiting) {
      if (message instanceof Answer) this.#writeAnswer(message);
      else if (typeof message === 'string') this.#writeFrame(message);
      else this.#writeCall(message);
    }
    this.#encoder.release();
    this.#send();
  }

  discard(): void {
    this.#shapes = [];
    this.#waiting = [];
    this.#encoder.release();
  }

  /** Includes the message that may have to define the function's number first. */
  callBytes(call: EncodedCall): number {
    const { action, traceparent, baggage, metadata } = call;
    let bytes = HEADER_BYTES.name + this.#memory.byteLength(call.functionId) + HEADER_BYTES.call;
    for (const text of [metadata, traceparent, baggage, action]) {
      if (text !== undefined) bytes += 4 + this.#memory.byteLength(text);
    }
    return bytes + this.#payloadBytes(call.data ?? '');
  }

  answerBytes(_call: DeliveredCall, answer: EncodedResult): number {
    return HEADER_BYTES.result + this.#payloadBytes(answer);
  }

  receive(message: string | Uint8Array, receiver: FrameReceiver): void {
    if (typeof message === 'string') receiver.onUnreadable('a text message on a connection of the binary form');
    else this.#reader.read(message, receiver);
  }

  #writeCall(call: EncodedCall): void {
    if (callBytesMax(call) > this.#capacity) this.#reserve(this.callBytes(call));
    this.#writer.call(call, this.#numberOf(call.functionId));
    // They are written; the call may live on for an hour.
    call.data = undefined;
    call.metadata = undefined;
  }

  #writeAnswer({ call, payload, isError }: Answer): void {
    if (payload !== undefined && answerBytesMax(call, payload) > this.#capacity) {
      this.#reserve(this.answerBytes(call, payload));
    } else if (HEADER_BYTES.result > this.#capacity) {
      this.#reserve(HEADER_BYTES.result);
    }
    if (payload instanceof EncodedReply) this.#writer.reply(call.idLow, call.idHigh, payload);
    else this.#writer.result(call.idLow, call.idHigh, payload, isError);
  }

  #writeShape(keyList: string): void {
    this.#reserve(HEADER_BYTES.shape + this.#memory.byteLength(keyList));
    this.#writer.shape(keyList);
  }

  #payloadBytes(payload: EncodedResult | ''): number {
    if (payload instanceof EncodedReply) {
      const { headers, body } = payload;
      return REPLY_HEADER_BYTES + this.#memory.byteLength(headers) + this.#memory.byteLength(body);
    }
    return typeof payload === 'string' ? this.#memory.byteLength(payload) : payload.length;
  }

  #writeFrame(text: string): void {
    this.#reserve(HEADER_BYTES.control + this.#memory.byteLength(text));
    this.#writer.frame(text);
  }

  /** Bytes that can be written without further checks. */
  get #capacity(): number {
    return Math.min(this.#writer.capacity, this.#frameBytesMax - this.#writer.length);
  }

  #reserve(bytes: number): void {
    if (this.#writer.length + bytes > this.#frameBytesMax) this.#send();
    this.#writer.grow(bytes);
  }

  #numberOf(functionId: string): number {
    const known = this.#numbers.get(functionId);
    if (known !== undefined) return known;
    // A worker that keeps calling new names starts again from the first number: a number may be redefined.
    if (this.#numbers.size === NAMES_MAX) this.#numbers.clear();
    const number = this.#numbers.size;
    this.#numbers.set(functionId, number);
    this.#writer.name(number, functionId);
    return number;
  }

  #send(): void {
    if (this.#writer.length > 0) this.#writer.send(this.#socket);
  }
}

/** An answer to send: the call of the engine, and the content. */
class Answer {
  readonly call: DeliveredCall;
  readonly payload: EncodedResult | undefined;
  readonly isError: boolean;

  constructor(call: DeliveredCall, payload: EncodedResult | undefined, isError: boolean) {
    this.call = call;
    this.payload = payload;
    this.isError = isError;
  }
}
