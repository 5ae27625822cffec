// Writes messages of the binary form one after the other into one growing buffer. Engine side only.

import type { ByteString } from '../json/byte-string.ts';
import type { Payload } from '../payload/payload.ts';
import { FLAG, HEADER_BYTES, KIND } from './binary-layout.ts';

const FIRST_BYTES = 4 * 1024;
/** The memory that an idle connection may keep; see `trim`. */
const KEPT_BYTES_MAX = 16 * 1024;

/** The messages that gather for one connection until they are sent. */
export class MessageBuffer {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  #isQuiet = false;

  get length(): number {
    return this.#length;
  }

  /** Everything written since the last `clear`; a view, valid until then. */
  view(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.#isQuiet = false;
  }

  /** Frees memory that grew for a burst, if nothing was sent since the last `trim`. */
  trim(): void {
    if (this.#isQuiet && this.#length === 0 && this.#buffer.length > KEPT_BYTES_MAX) {
      this.#buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    }
    this.#isQuiet = true;
  }

  control(text: ByteString): void {
    const at = this.#begin(HEADER_BYTES.control + text.length, KIND.control, 0, 0);
    this.#buffer.write(text, at + HEADER_BYTES.control, 'latin1');
  }

  /** From here on `number` means the text. */
  name(number: number, text: string): void {
    const at = this.#begin(HEADER_BYTES.name + Buffer.byteLength(text), KIND.name, 0, 0);
    putU32(this.#buffer, at + 8, number);
    this.#buffer.write(text, at + HEADER_BYTES.name, 'utf8');
  }

  /** From here on `number` means the key list, JSON, wherever a payload refers to it. */
  shape(number: number, keyList: string): void {
    const at = this.#begin(HEADER_BYTES.shape + Buffer.byteLength(keyList), KIND.shape, 0, 0);
    putU32(this.#buffer, at + 8, number);
    this.#buffer.write(keyList, at + HEADER_BYTES.shape, 'utf8');
  }

  call(call: CallFields): void {
    const { payload, metadata, traceparent, baggage, extra } = call;
    let flags = call.isUntraced === true ? flagsOf(payload) | FLAG.isUntraced : flagsOf(payload);
    let bytes = HEADER_BYTES.call + (payload === undefined ? 0 : payload.byteLength);
    if (metadata !== undefined) {
      flags |= FLAG.metadata;
      bytes += 4 + metadata.byteLength;
    }
    if (traceparent !== undefined) {
      flags |= FLAG.traceparent;
      bytes += 4 + Buffer.byteLength(traceparent);
    }
    if (baggage !== undefined) {
      flags |= FLAG.baggage;
      bytes += 4 + Buffer.byteLength(baggage);
    }
    if (extra !== undefined) {
      flags |= FLAG.extra;
      bytes += 4 + extra.length;
    }
    const start = this.#begin(bytes, KIND.call, flags, call.depth);
    const buffer = this.#buffer;
    putU32(buffer, start + 8, call.idLow);
    putU32(buffer, start + 12, call.idHigh);
    putU32(buffer, start + 16, call.functionNumber);
    putU32(buffer, start + 20, call.timeoutMs);
    let at = start + HEADER_BYTES.call;
    if (metadata !== undefined) {
      putU32(buffer, at, metadata.byteLength);
      metadata.writeTo(buffer, at + 4);
      at += 4 + metadata.byteLength;
    }
    if (traceparent !== undefined) at = this.#section(at, traceparent, 'utf8');
    if (baggage !== undefined) at = this.#section(at, baggage, 'utf8');
    if (extra !== undefined) at = this.#section(at, extra, 'latin1');
    payload?.writeTo(buffer, at);
  }

  result(idLow: number, idHigh: number, payload: Payload | undefined, isError: boolean): void {
    const bytes = HEADER_BYTES.result + (payload === undefined ? 0 : payload.byteLength);
    const flags = flagsOf(payload) | (payload !== undefined && isError ? FLAG.isError : 0);
    const at = this.#begin(bytes, KIND.result, flags, 0);
    putU32(this.#buffer, at + 8, idLow);
    putU32(this.#buffer, at + 12, idHigh);
    payload?.writeTo(this.#buffer, at + HEADER_BYTES.result);
  }

  /** Reserves room for a message of that many bytes and writes its first eight; returns where it begins. */
  #begin(bytes: number, kind: number, flags: number, depth: number): number {
    const at = this.#length;
    this.#length = at + bytes;
    if (this.#length > this.#buffer.length) this.#grow(at);
    const buffer = this.#buffer;
    putU32(buffer, at, bytes - 4);
    buffer[at + 4] = kind;
    buffer[at + 5] = flags;
    buffer[at + 6] = depth & 0xff;
    buffer[at + 7] = depth >>> 8;
    return at;
  }

  #grow(used: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#length, 2 * this.#buffer.length));
    this.#buffer.copy(grown, 0, 0, used);
    this.#buffer = grown;
  }

  #section(at: number, text: string, encoding: 'utf8' | 'latin1'): number {
    const bytes = this.#buffer.write(text, at + 4, encoding);
    putU32(this.#buffer, at, bytes);
    return at + 4 + bytes;
  }
}

/** A call towards a worker. */
export interface CallFields {
  readonly idLow: number;
  readonly idHigh: number;
  readonly functionNumber: number;
  readonly depth: number;
  readonly timeoutMs: number;
  readonly metadata: Payload | undefined;
  /** Instead of `traceparent`. */
  readonly isUntraced?: boolean | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  /** The cause of the call, if it was a trigger. */
  readonly extra: ByteString | undefined;
  readonly payload: Payload | undefined;
}

function flagsOf(payload: Payload | undefined): number {
  if (payload === undefined) return 0;
  return payload.isCompact ? FLAG.payload | FLAG.compact : FLAG.payload;
}

function putU32(buffer: Uint8Array, at: number, value: number): void {
  buffer[at] = value & 0xff;
  buffer[at + 1] = (value >>> 8) & 0xff;
  buffer[at + 2] = (value >>> 16) & 0xff;
  buffer[at + 3] = value >>> 24;
}
