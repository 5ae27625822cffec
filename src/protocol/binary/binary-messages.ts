// The messages of the binary form, read and written. Engine side only.
//
// `BatchReader` reads the messages of one WebSocket message of a worker. Nothing is copied: the handler gets positions,
// and the same header object every time, so it must take what it needs before it returns. Headers are checked by their
// typia-compiled validators. `MessageBuffer` writes messages one after the other into one growing buffer.

import { isCallHeader, isResultHeader } from '../../generated/worker-frames.ts';
import { CHANNEL_HEADER_BYTES, CHANNEL_KIND } from '../cluster/channel-message.ts';
import type { ByteString } from '../json/byte-string.ts';
import type { Payload } from '../payload/payload.ts';
import { FLAG, HEADER_BYTES, KIND, NAMES_MAX } from './binary-layout.ts';

/**
 * The positions of the parts of a call. A section runs from its start, where its length lies in four bytes, to before
 * its end. The positions of an absent section mean nothing; the flags say which sections are absent.
 */
export interface CallHeader {
  flags: number;
  depth: number;
  idLow: number;
  idHigh: number;
  functionNumber: number;
  timeoutMs: number;
  metadataStart: number;
  metadataEnd: number;
  traceparentStart: number;
  traceparentEnd: number;
  baggageStart: number;
  baggageEnd: number;
  extraStart: number;
  extraEnd: number;
  payloadStart: number;
  payloadEnd: number;
}

export interface ResultHeader {
  flags: number;
  idLow: number;
  idHigh: number;
  payloadStart: number;
  payloadEnd: number;
}

/** The positions of a message about an end of a channel. Its step and its code are checked by who handles it. */
export interface ChannelHeader {
  flags: number;
  /** Of a close. */
  code: number;
  number: number;
  start: number;
  end: number;
}

export interface BatchVisitor {
  control(start: number, end: number): void;
  name(number: number, start: number, end: number): void;
  /** A key list: of a worker, which requests a number for it; of an engine, which has given it this number. */
  shape(start: number, end: number, number: number): void;
  call(header: Readonly<CallHeader>): void;
  result(header: Readonly<ResultHeader>): void;
  /** Absent: such a message is refused, as one of an unknown kind. */
  channel?(header: Readonly<ChannelHeader>): void;
  /** A message cannot be read: it and the rest of the frame are void. */
  refuse(reason: string): void;
  /** The same for a call or a result whose id can be read, because a caller waits for it. */
  refuseCall(idLow: number, isVoid: boolean, reason: string): void;
  refuseResult(idLow: number, idHigh: number, reason: string): void;
}

/** Messages in one frame. Our SDK sends far fewer; the limit keeps one frame from blocking the router for seconds. */
export const FRAME_MESSAGES_MAX = 16_384;

export class BatchReader {
  readonly #call: CallHeader = {
    flags: 0,
    depth: 0,
    idLow: 0,
    idHigh: 0,
    functionNumber: 0,
    timeoutMs: 0,
    metadataStart: 0,
    metadataEnd: 0,
    traceparentStart: 0,
    traceparentEnd: 0,
    baggageStart: 0,
    baggageEnd: 0,
    extraStart: 0,
    extraEnd: 0,
    payloadStart: 0,
    payloadEnd: 0,
  };
  readonly #result: ResultHeader = { flags: 0, idLow: 0, idHigh: 0, payloadStart: 0, payloadEnd: 0 };

  read(bytes: Uint8Array, visitor: BatchVisitor): void {
    let at = 0;
    for (let count = 0; at < bytes.length; count++) {
      const end = at + 4 + u32(bytes, at);
      if (at + HEADER_BYTES.control > end || end > bytes.length) {
        visitor.refuse(`a message at byte ${at} claims ${end - at} of the ${bytes.length - at} remaining bytes`);
        return;
      }
      if (count === FRAME_MESSAGES_MAX) {
        visitor.refuse(`more than ${FRAME_MESSAGES_MAX} messages in one frame`);
        return;
      }
      if (!this.#readMessage(bytes, at, end, visitor)) return;
      at = end;
    }
  }

  /** Returns false if the message could not be read. */
  #readMessage(bytes: Uint8Array, at: number, end: number, visitor: BatchVisitor): boolean {
    switch (bytes[at + 4]) {
      case KIND.call:
        if (this.#readCall(bytes, at, end)) visitor.call(this.#call);
        else return refuseCall(bytes, at, end, visitor);
        return true;
      case KIND.result:
        if (this.#readResult(bytes, at, end)) visitor.result(this.#result);
        else return refuseResult(bytes, at, end, visitor);
        return true;
      case KIND.name: {
        const number = end - at < HEADER_BYTES.name ? NAMES_MAX : u32(bytes, at + 8);
        if (number < NAMES_MAX) visitor.name(number, at + HEADER_BYTES.name, end);
        else visitor.refuse(`the number of a name at byte ${at} is not below ${NAMES_MAX}`);
        return number < NAMES_MAX;
      }
      case KIND.shape:
        if (end - at < HEADER_BYTES.shape) return refuseShape(at, visitor);
        visitor.shape(at + HEADER_BYTES.shape, end, u32(bytes, at + 8));
        return true;
      case KIND.control:
        visitor.control(at + HEADER_BYTES.control, end);
        return true;
      case CHANNEL_KIND:
        if (visitor.channel === undefined || end - at < CHANNEL_HEADER_BYTES) return refuseKind(bytes, at, visitor);
        visitor.channel({
          ...{ flags: bytes[at + 5] ?? 0, code: u16(bytes, at + 6), number: u32(bytes, at + 8) },
          ...{ start: at + CHANNEL_HEADER_BYTES, end },
        });
        return true;
      default:
        return refuseKind(bytes, at, visitor);
    }
  }

  #readCall(bytes: Uint8Array, at: number, end: number): boolean {
    if (end - at < HEADER_BYTES.call) return false;
    const header = this.#call;
    const flags = bytes[at + 5] ?? 0;
    header.flags = flags;
    header.depth = u16(bytes, at + 6);
    header.idLow = u32(bytes, at + 8);
    header.idHigh = u32(bytes, at + 12);
    header.functionNumber = u32(bytes, at + 16);
    header.timeoutMs = u32(bytes, at + 20);
    let next = at + HEADER_BYTES.call;
    if ((flags & ANY_SECTION) !== 0) {
      header.metadataStart = next;
      header.metadataEnd = section(bytes, header.metadataStart, flags & FLAG.metadata);
      header.traceparentStart = header.metadataEnd;
      header.traceparentEnd = section(bytes, header.traceparentStart, flags & FLAG.traceparent);
      header.baggageStart = header.traceparentEnd;
      header.baggageEnd = section(bytes, header.baggageStart, flags & FLAG.baggage);
      header.extraStart = header.baggageEnd;
      header.extraEnd = section(bytes, header.extraStart, flags & FLAG.extra);
      next = header.extraEnd;
    }
    header.payloadStart = next;
    header.payloadEnd = end;
    return next <= end && isCallHeader(header);
  }

  #readResult(bytes: Uint8Array, at: number, end: number): boolean {
    if (end - at < HEADER_BYTES.result) return false;
    const header = this.#result;
    header.flags = bytes[at + 5] ?? 0;
    header.idLow = u32(bytes, at + 8);
    header.idHigh = u32(bytes, at + 12);
    header.payloadStart = at + HEADER_BYTES.result;
    header.payloadEnd = end;
    return isResultHeader(header);
  }
}

function refuseCall(bytes: Uint8Array, at: number, end: number, visitor: BatchVisitor): false {
  const reason = `the header of a call at byte ${at} is invalid`;
  if (end - at < HEADER_BYTES.result) visitor.refuse(reason);
  else visitor.refuseCall(u32(bytes, at + 8), ((bytes[at + 5] ?? 0) & FLAG.isVoid) !== 0, reason);
  return false;
}

function refuseResult(bytes: Uint8Array, at: number, end: number, visitor: BatchVisitor): false {
  const reason = `the header of a result at byte ${at} is invalid`;
  if (end - at < HEADER_BYTES.result) visitor.refuse(reason);
  else visitor.refuseResult(u32(bytes, at + 8), u32(bytes, at + 12), reason);
  return false;
}

function refuseKind(bytes: Uint8Array, at: number, visitor: BatchVisitor): false {
  visitor.refuse(`unknown kind ${bytes[at + 4]} at byte ${at}`);
  return false;
}

function refuseShape(at: number, visitor: BatchVisitor): false {
  visitor.refuse(`a shape at byte ${at} is shorter than its header`);
  return false;
}

const ANY_SECTION = FLAG.metadata | FLAG.traceparent | FLAG.baggage | FLAG.extra;

/** The end of a section that begins at `start` with its length; its content begins four bytes after `start`. */
function section(bytes: Uint8Array, start: number, isPresent: number): number {
  return isPresent === 0 ? start : start + 4 + u32(bytes, start);
}

function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

function u32(bytes: Uint8Array, at: number): number {
  return (u16(bytes, at) | (u16(bytes, at + 2) << 16)) >>> 0;
}

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

  /** From here on calls may be requests of the route `number`. */
  route(number: number, constants: ByteString): void {
    const at = this.#begin(HEADER_BYTES.route + constants.length, KIND.route, 0, 0);
    putU32(this.#buffer, at + 8, number);
    this.#buffer.write(constants, at + HEADER_BYTES.route, 'latin1');
  }

  /** `code`: of a close. The content is read as `latin1` bytes where it is a text. */
  channel(flags: number, code: number, number: number, content: ByteString | Uint8Array): void {
    const at = this.#begin(CHANNEL_HEADER_BYTES + content.length, CHANNEL_KIND, flags, code);
    putU32(this.#buffer, at + 8, number);
    if (typeof content === 'string') this.#buffer.write(content, at + CHANNEL_HEADER_BYTES, 'latin1');
    else this.#buffer.set(content, at + CHANNEL_HEADER_BYTES);
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

  result(idLow: number, idHigh: number, payload: Payload | undefined, isError: boolean, isUnhanded = false): void {
    const bytes = HEADER_BYTES.result + (payload === undefined ? 0 : payload.byteLength);
    const errorFlags = isUnhanded ? FLAG.isError | FLAG.isUnhanded : FLAG.isError;
    const flags = flagsOf(payload) | (payload !== undefined && isError ? errorFlags : 0);
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
  if (payload.form === 'JSON') return FLAG.payload;
  return FLAG.payload | (payload.form === 'request' ? FLAG.isRequest : FLAG.packed);
}

function putU32(buffer: Uint8Array, at: number, value: number): void {
  buffer[at] = value & 0xff;
  buffer[at + 1] = (value >>> 8) & 0xff;
  buffer[at + 2] = (value >>> 16) & 0xff;
  buffer[at + 3] = value >>> 24;
}
