// Reads messages of the binary form in place, in a WebSocket message of the engine. Only text that becomes values is
// copied.
//
// Neighbours: `binary-writer.ts` is the other direction; `protocol/binary/binary-layout.ts` defines the place of each
// field. There is one reader per connection, because it remembers the names for which the engine defined numbers.

import { FLAG, HEADER_BYTES, KIND, NAMES_MAX } from '../../protocol/binary/binary-layout.ts';
import type { ErrorBody, TriggerOrigin } from '../../protocol/frames/frames.ts';
import { CompactDecoder } from '../../protocol/payload/compact-decode.ts';
import type { CompactEncoder } from '../../protocol/payload/compact-encode.ts';
import { readShape, SHAPES_MAX, type Shape } from '../../protocol/payload/shape.ts';
import { type KnownRoute, type ReceivedRequest, RequestReader, readRoute } from '../triggers/received-request.ts';
import type { PlatformMemory } from '../worker/platform.ts';
import { isOrigin, readFrame } from './json-wire.ts';
import type { DeliveredCall, FrameReceiver } from './wire.ts';

export class BinaryReader {
  readonly #memory: PlatformMemory;
  readonly #names: (string | undefined)[] = [];

  readonly #routes: (KnownRoute | undefined)[] = [];
  readonly #requests: RequestReader;
  readonly #shapes: (Shape | undefined)[] = [];
  readonly #decoder: CompactDecoder;
  /** The origin text of the last call that had one: the next call mostly has the same origin. */
  #originText: string | undefined;
  #origin: TriggerOrigin | undefined;
  /** Learns the shapes that the engine announces. */
  readonly #encoder: CompactEncoder;

  constructor(memory: PlatformMemory, encoder: CompactEncoder) {
    this.#memory = memory;
    this.#encoder = encoder;
    this.#requests = new RequestReader(memory);
    this.#decoder = new CompactDecoder(memory, (number) => this.#shapes[number]);
  }

  /**
   * A message with an invalid header or invalid lengths voids itself and what follows it, as at the engine: the sender
   * may mean something else by the rest as well. A message whose content cannot be read is skipped.
   */
  read(bytes: Uint8Array, receiver: FrameReceiver): void {
    this.#readMessages(bytes, receiver);
    this.#decoder.forget();
  }

  #readMessages(bytes: Uint8Array, receiver: FrameReceiver): void {
    let at = 0;
    while (at < bytes.length) {
      const end = at + 4 + u32(bytes, at);
      if (at + HEADER_BYTES.control > end || end > bytes.length) {
        receiver.onUnreadable(`a message at byte ${at} claims ${end - at} of the ${bytes.length - at} remaining bytes`);
        return;
      }
      if (!this.#readMessage(bytes, at, end, receiver)) return;
      at = end;
    }
  }

  /** Returns false if its header or a length in it is invalid. */
  #readMessage(bytes: Uint8Array, at: number, end: number, receiver: FrameReceiver): boolean {
    switch (bytes[at + 4]) {
      case KIND.result:
        return this.#readResult(bytes, at, end, receiver);
      case KIND.call:
        return this.#readCall(bytes, at, end, receiver);
      case KIND.name:
        return this.#readName(bytes, at, end, receiver);
      case KIND.shape:
        this.#readShape(bytes, at, end, receiver);
        return true;
      case KIND.route:
        this.#readRoute(bytes, at, end, receiver);
        return true;
      case KIND.control:
        this.#readControl(bytes, at, end, receiver);
        return true;
      default:
        receiver.onUnreadable(`unknown kind ${bytes[at + 4]} at byte ${at}`);
        return false;
    }
  }

  #readResult(bytes: Uint8Array, at: number, end: number, receiver: FrameReceiver): boolean {
    if (end - at < HEADER_BYTES.result) {
      receiver.onUnreadable(`a result at byte ${at} is shorter than its header`);
      return false;
    }
    const flags = bytes[at + 5] ?? 0;
    const number = u32(bytes, at + 8);
    let payload: unknown;
    if ((flags & FLAG.payload) !== 0) {
      try {
        payload = this.#payload(flags, bytes, at + HEADER_BYTES.result, end);
      } catch (error) {
        // The engine passes on what the other worker sent without reading it.
        receiver.onError(number, unreadable('answer', error), undefined);
        return true;
      }
    }
    if ((flags & FLAG.isError) === 0) receiver.onResult(number, payload);
    else receiver.onError(number, payload, undefined);
    return true;
  }

  #readCall(bytes: Uint8Array, at: number, end: number, receiver: FrameReceiver): boolean {
    if (end - at < HEADER_BYTES.call) {
      receiver.onUnreadable(`a call at byte ${at} is shorter than its header`);
      return false;
    }
    const call = new BinaryCall(bytes, at);
    let payload: unknown = null;
    try {
      const flags = bytes[at + 5] ?? 0;
      const number = u32(bytes, at + 16);
      call.isRequest = (flags & FLAG.isRequest) !== 0;
      const route = call.isRequest ? this.#routeOf(number) : undefined;
      call.functionId = route === undefined ? this.#nameOf(number) : route.functionId;
      call.isUntraced = (flags & FLAG.isUntraced) !== 0;
      let next = at + HEADER_BYTES.call;
      if ((flags & ANY_SECTION) !== 0) next = this.#readSections(call, flags, bytes, next, end);
      if (route !== undefined) payload = this.#readRequest(call, route, bytes, next, end);
      else if ((flags & FLAG.payload) !== 0) payload = this.#payload(flags, bytes, next, end);
    } catch (error) {
      receiver.onBrokenCall(call, unreadable('call', error));
      return !(error instanceof OverlongSection);
    }
    receiver.onCall(call, payload);
    return true;
  }

  #readRequest(call: BinaryCall, route: KnownRoute, bytes: Uint8Array, start: number, end: number): ReceivedRequest {
    call.trigger = route.origin;
    if (call.traceparent !== undefined) call.baggage ??= route.baggage;
    return this.#requests.read(bytes, start, end, route);
  }

  /** Returns the position of the payload. */
  #readSections(call: BinaryCall, flags: number, bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    if ((flags & FLAG.metadata) !== 0) {
      const next = sectionEnd(bytes, at, end);
      call.metadata = this.#value(bytes, at + 4, next);
      at = next;
    }
    if ((flags & FLAG.traceparent) !== 0) {
      const next = sectionEnd(bytes, at, end);
      call.traceparent = this.#memory.read(bytes, at + 4, next);
      at = next;
    }
    if ((flags & FLAG.baggage) !== 0) {
      const next = sectionEnd(bytes, at, end);
      call.baggage = this.#memory.read(bytes, at + 4, next);
      at = next;
    }
    if ((flags & FLAG.extra) !== 0) {
      const next = sectionEnd(bytes, at, end);
      call.trigger = this.#originIn(this.#memory.read(bytes, at + 4, next));
      at = next;
    }
    return at;
  }

  #originIn(text: string): TriggerOrigin | undefined {
    if (text === this.#originText) return this.#origin;
    const origin: unknown = JSON.parse(text);
    // Frozen, because the handlers of several calls share it.
    this.#origin = isOrigin(origin) ? Object.freeze(origin) : undefined;
    this.#originText = text;
    return this.#origin;
  }

  #readName(bytes: Uint8Array, at: number, end: number, receiver: FrameReceiver): boolean {
    const number = end - at < HEADER_BYTES.name ? NAMES_MAX : u32(bytes, at + 8);
    if (number < NAMES_MAX) this.#names[number] = this.#memory.read(bytes, at + HEADER_BYTES.name, end);
    else receiver.onUnreadable(`the number of a name at byte ${at} is not below ${NAMES_MAX}`);
    return number < NAMES_MAX;
  }

  #readShape(bytes: Uint8Array, at: number, end: number, receiver: FrameReceiver): void {
    const number = end - at < HEADER_BYTES.shape ? SHAPES_MAX : u32(bytes, at + 8);
    const shape = number < SHAPES_MAX ? readShape(this.#memory.read(bytes, at + HEADER_BYTES.shape, end)) : undefined;
    if (shape === undefined) {
      receiver.onUnreadable(`a shape at byte ${at} is invalid`);
      return;
    }
    // The meaning of a number never changes.
    if (this.#shapes[number] !== undefined) return;
    this.#shapes[number] = shape;
    this.#encoder.learn(shape, number);
  }

  #readControl(bytes: Uint8Array, at: number, end: number, receiver: FrameReceiver): void {
    const frame = readFrame(this.#memory.read(bytes, at + HEADER_BYTES.control, end));
    if (frame.type === 'unreadable') receiver.onUnreadable(frame.problem);
    else if (frame.type === 'invokefunction' || frame.type === 'invocationresult') {
      receiver.onUnreadable(`${frame.type} has a message of its own in the binary form`);
    } else receiver.onFrame(frame);
  }

  #readRoute(bytes: Uint8Array, at: number, end: number, receiver: FrameReceiver): void {
    const number = end - at < HEADER_BYTES.route ? NAMES_MAX : u32(bytes, at + 8);
    const route = number < NAMES_MAX ? readRoute(this.#memory.read(bytes, at + HEADER_BYTES.route, end)) : undefined;
    if (route === undefined) receiver.onUnreadable(`a route at byte ${at} is invalid`);
    else this.#routes[number] = route;
  }

  #routeOf(number: number): KnownRoute {
    const route = this.#routes[number];
    if (route === undefined) throw new Error(`route number ${number} was never announced`);
    return route;
  }

  #nameOf(number: number): string {
    const name = this.#names[number];
    if (name === undefined) throw new Error(`function number ${number} was never given a name`);
    return name;
  }

  #payload(flags: number, bytes: Uint8Array, start: number, end: number): unknown {
    if ((flags & FLAG.packed) === 0) return this.#value(bytes, start, end);
    const value = this.#decoder.decode(bytes, start, end);
    if (this.#decoder.mayHoldReference) this.#memory.noteReference();
    return value;
  }

  #value(bytes: Uint8Array, start: number, end: number): unknown {
    return JSON.parse(this.#memory.read(bytes, start, end));
  }
}

class BinaryCall implements DeliveredCall {
  functionId = '';
  readonly idText = undefined;
  readonly idLow: number;
  readonly idHigh: number;
  readonly timeoutMs: number | undefined;
  readonly depth: number;
  traceparent: string | undefined = undefined;
  isUntraced = false;
  baggage: string | undefined = undefined;
  metadata: unknown = undefined;
  trigger: TriggerOrigin | undefined = undefined;
  isRequest = false;

  constructor(bytes: Uint8Array, at: number) {
    this.idLow = u32(bytes, at + 8);
    this.idHigh = u32(bytes, at + 12);
    this.timeoutMs = u32(bytes, at + 20) || undefined;
    this.depth = u16(bytes, at + 6);
  }
}

const ANY_SECTION = FLAG.metadata | FLAG.traceparent | FLAG.baggage | FLAG.extra;

/** A section begins with its length, in four bytes. */
function sectionEnd(bytes: Uint8Array, at: number, end: number): number {
  const next = at + 4 + u32(bytes, at);
  if (next > end) throw new OverlongSection(`a section at byte ${at} is longer than its message`);
  return next;
}

class OverlongSection extends Error {}

function unreadable(what: string, error: unknown): ErrorBody {
  const why = error instanceof Error ? error.message : String(error);
  return { code: 'BAD_REQUEST', message: `the ${what} could not be read: ${why}` };
}

function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

function u32(bytes: Uint8Array, at: number): number {
  return (u16(bytes, at) | (u16(bytes, at + 2) << 16)) >>> 0;
}
