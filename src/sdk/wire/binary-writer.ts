// Writes messages of the binary form one after the other into one piece of memory that is reused.
//
// Neighbours: `binary-wire.ts` decides what is written and when it leaves; `protocol/binary/binary-layout.ts` defines
// the place of each field.
//
// - Memory for a whole message is reserved before its first byte is written: text that does not fit would be cut off.
// - Memory that the socket still needs is never written to again.

import { FLAG, HEADER_BYTES, KIND } from '../../protocol/binary/binary-layout.ts';
import { REPLY_HEADER_BYTES } from '../../protocol/http/record-layout.ts';
import type { CompactEncoder } from '../../protocol/payload/compact-encode.ts';
import { callDepth, parseBaggage } from '../calls/trace-context.ts';
import { HEADROOM_BYTES, type PlatformMemory, type PlatformSocket } from '../worker/platform.ts';
import type { EncodedReply } from './reply-encode.ts';
import type { EncodedCall, EncodedPayload } from './wire.ts';

export class BinaryWriter {
  readonly #platform: PlatformMemory;
  /** Holds payloads of the compact form. */
  readonly #encoder: CompactEncoder;
  #memory: Uint8Array;
  /** The end of the last message; the bytes before HEADROOM_BYTES belong to the socket. */
  #end = HEADROOM_BYTES;

  constructor(platform: PlatformMemory, encoder: CompactEncoder) {
    this.#platform = platform;
    this.#encoder = encoder;
    this.#memory = platform.allocate(FIRST_BYTES);
  }

  /** Bytes of the messages written since the last `send`. */
  get length(): number {
    return this.#end - HEADROOM_BYTES;
  }

  /** Bytes that fit after them without a move. */
  get capacity(): number {
    return this.#memory.length - this.#end;
  }

  /** Reserves memory for that many bytes. */
  grow(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#memory.length) return;
    const grown = this.#platform.allocate(Math.max(needed, 2 * this.#memory.length));
    grown.set(this.#memory.subarray(0, this.#end));
    this.#memory = grown;
  }

  /** Sends the messages as one. */
  send(socket: PlatformSocket): void {
    const isFree = socket.sendBytes(this.#memory, HEADROOM_BYTES, this.#end);
    // Memory that grew for one large payload is not kept either.
    if (!isFree || this.#memory.length > KEPT_BYTES_MAX) this.#memory = this.#platform.allocate(FIRST_BYTES);
    this.#end = HEADROOM_BYTES;
  }

  // Each of these needs as much capacity as `binary-wire.ts` computes for it.

  frame(text: string): void {
    const start = this.#begin(KIND.control, 0, 0);
    this.#finish(start, this.#text(text, start + HEADER_BYTES.control));
  }

  /** From here on `number` means the text. */
  name(number: number, text: string): void {
    const start = this.#begin(KIND.name, 0, 0);
    putU32(this.#memory, start + 8, number);
    this.#finish(start, this.#text(text, start + HEADER_BYTES.name));
  }

  /** Asks for the number of a key list. */
  shape(keyList: string): void {
    const start = this.#begin(KIND.shape, 0, 0);
    putU32(this.#memory, start + 8, 0);
    this.#finish(start, this.#text(keyList, start + HEADER_BYTES.shape));
  }

  call(call: EncodedCall, functionNumber: number): void {
    const { number, action, traceparent, baggage, metadata, data } = call;
    const depth = call.depth ?? callDepth(parseBaggage(baggage));
    const start = this.#begin(KIND.call, flagsOf(call), Math.min(depth, DEPTH_MAX));
    const memory = this.#memory;
    putU32(memory, start + 8, number);
    putU32(memory, start + 12, 0);
    putU32(memory, start + 16, functionNumber);
    putU32(memory, start + 20, call.timeoutMs);
    let at = start + HEADER_BYTES.call;
    if (metadata !== undefined) at = this.#section(metadata, at);
    if (traceparent !== undefined) at = this.#section(traceparent, at);
    if (baggage !== undefined) at = this.#section(baggage, at);
    if (action !== undefined) at = this.#section(action, at);
    if (data !== undefined) at = this.#payload(data, at);
    this.#finish(start, at);
  }

  result(idLow: number, idHigh: number, payload: EncodedPayload | undefined, isError: boolean): void {
    const flags = payloadFlags(payload) | (payload !== undefined && isError ? FLAG.isError : 0);
    const start = this.#begin(KIND.result, flags, 0);
    putU32(this.#memory, start + 8, idLow);
    putU32(this.#memory, start + 12, idHigh);
    const at = start + HEADER_BYTES.result;
    this.#finish(start, payload === undefined ? at : this.#payload(payload, at));
  }

  reply(idLow: number, idHigh: number, { status, headers, body, flags }: EncodedReply): void {
    const start = this.#begin(KIND.result, FLAG.payload | FLAG.isReply, 0);
    const memory = this.#memory;
    putU32(memory, start + 8, idLow);
    putU32(memory, start + 12, idHigh);
    const at = start + HEADER_BYTES.result;
    putU32(memory, at, status | (flags << 16));
    const headersStart = at + REPLY_HEADER_BYTES;
    const headersEnd = headers === '' ? headersStart : this.#text(headers, headersStart);
    putU32(memory, at + 4, headersEnd - headersStart);
    this.#finish(start, this.#text(body, headersEnd));
  }

  #begin(kind: number, flags: number, depth: number): number {
    const start = this.#end;
    const memory = this.#memory;
    memory[start + 4] = kind;
    memory[start + 5] = flags;
    memory[start + 6] = depth & 0xff;
    memory[start + 7] = depth >>> 8;
    return start;
  }

  #finish(start: number, end: number): void {
    putU32(this.#memory, start, end - start - 4);
    this.#end = end;
  }

  #section(text: string, at: number): number {
    const end = this.#text(text, at + 4);
    putU32(this.#memory, at, end - at - 4);
    return end;
  }

  #payload(payload: EncodedPayload, at: number): number {
    if (typeof payload === 'string') return this.#text(payload, at);
    this.#platform.copy(this.#encoder.memory, payload.start, payload.start + payload.length, this.#memory, at);
    return at + payload.length;
  }

  #text(text: string, at: number): number {
    return at + this.#platform.write(this.#memory, text, at);
  }
}

const FIRST_BYTES = 64 * 1024;
const KEPT_BYTES_MAX = 1024 * 1024;
/** The maximum of the field; the engine ends a chain long before. */
const DEPTH_MAX = 0xffff;

function flagsOf({ number, action, traceparent, baggage, metadata, data }: EncodedCall): number {
  return (
    (number === 0 ? FLAG.isVoid : 0) |
    (metadata === undefined ? 0 : FLAG.metadata) |
    (traceparent === undefined ? 0 : FLAG.traceparent) |
    (baggage === undefined ? 0 : FLAG.baggage) |
    (action === undefined ? 0 : FLAG.extra) |
    payloadFlags(data)
  );
}

function payloadFlags(payload: EncodedPayload | undefined): number {
  if (payload === undefined) return 0;
  return typeof payload === 'string' ? FLAG.payload : FLAG.payload | FLAG.packed;
}

function putU32(memory: Uint8Array, at: number, value: number): void {
  memory[at] = value & 0xff;
  memory[at + 1] = (value >>> 8) & 0xff;
  memory[at + 2] = (value >>> 16) & 0xff;
  memory[at + 3] = value >>> 24;
}
