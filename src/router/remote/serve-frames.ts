// Frames of another engine of the cluster: calls that workers of this engine run, and results of its own.
//
// One object per session, because it remembers the names and shapes that the other engine numbered. Calls and results
// are handled in place in the message: payloads stay views of it, and nothing of it is kept. The shapes of a compact
// payload get the numbers of this engine in place, too: then it is passed on unread.

import { Refusal } from '../../core/calls/refusal.ts';
import { isRelayedOrigin } from '../../generated/worker-frames.ts';
import { FLAG } from '../../protocol/binary/binary-layout.ts';
import {
  BatchReader,
  type BatchVisitor,
  type CallHeader,
  type ChannelHeader,
  type ResultHeader,
} from '../../protocol/binary/binary-messages.ts';
import { CALL_TIMEOUT_MS_DEFAULT } from '../../protocol/frames/limits.ts';
import { asRawJson, parseRawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { nodeText } from '../../protocol/json/node-bytes.ts';
import { CompactDecoder } from '../../protocol/payload/compact-decode.ts';
import { mapReferences } from '../../protocol/payload/compact-layout.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import { readShape, SHAPES_MAX, type Shape } from '../../protocol/payload/shape.ts';
import type { LocalCaller, Outcome } from '../calls/call.ts';
import { settle } from '../calls/in-flight.ts';
import { deliver, invoke, invokeOnBehalfOf, refuse } from '../calls/invoke.ts';
import type { CallRequest, RouterContext } from '../context.ts';
import { ForwardedAccess } from '../restricted/forwarded-access.ts';
import { readError } from '../session/observe.ts';
import { countIfDropped, relayAgain } from './relayed-calls.ts';
import { RemoteChannels } from './remote-channels.ts';
import type { RelayedOrigin, RemoteEngine } from './remote-engine.ts';

export class ServeFrames implements BatchVisitor {
  readonly #context: RouterContext;
  readonly #engine: RemoteEngine;
  readonly #reader = new BatchReader();
  readonly #names: string[] = [];
  /** By the other engine's number: the shape, and its number here; `undefined`: the table of this engine is full. */
  readonly #shapes: { readonly shape: Shape; readonly number: number | undefined }[] = [];
  readonly #numberFor = (number: number): number | undefined => this.#shapes[number]?.number;
  readonly #decoder = new CompactDecoder(nodeText, (number) => this.#shapes[number]?.shape);
  readonly #access = new ForwardedAccess();
  /** Ends of channels in this session. */
  readonly channels: RemoteChannels;
  #message: Buffer = Buffer.alloc(0);

  constructor(context: RouterContext, engine: RemoteEngine) {
    this.#context = context;
    this.#engine = engine;
    this.channels = new RemoteChannels(engine, context.channels);
  }

  receive(bytes: Buffer): void {
    this.#message = bytes;
    this.#reader.read(bytes, this);
  }

  name(number: number, start: number, end: number): void {
    this.#names[number] = this.#message.toString('utf8', start, end);
  }

  call(header: Readonly<CallHeader>): void {
    const { flags, depth } = header;
    const context = this.#context;
    const functionId = this.#names[header.functionNumber];
    if (functionId === undefined) return this.refuse(`function number ${header.functionNumber} without a name`);
    const caller = new RelayedCaller(this.#engine, header.idLow, header.idHigh);
    const origin = (flags & FLAG.extra) === 0 ? NO_ORIGIN : this.#readOrigin(header);
    if (origin === undefined) {
      const refusal = new Refusal('BAD_REQUEST', `The origin of the call of ${functionId} cannot be read`);
      return refuse(context, caller, 0, functionId, refusal);
    }
    const { idLow, idHigh } = header;
    const request: CallRequest = {
      functionId,
      data: this.#payload(flags, header.payloadStart, header.payloadEnd),
      metadata:
        (flags & FLAG.metadata) === 0
          ? undefined
          : Payload.ofBytes(this.#message, header.metadataStart + 4, header.metadataEnd),
      traceparent: this.#section(flags & FLAG.traceparent, header.traceparentStart, header.traceparentEnd),
      baggage: this.#section(flags & FLAG.baggage, header.baggageStart, header.baggageEnd),
      depth,
      timeoutMs: header.timeoutMs === 0 ? CALL_TIMEOUT_MS_DEFAULT : header.timeoutMs,
      from: undefined,
      // Calls of functions of workers were judged where the caller is connected.
      rights: origin.for?.rights && this.#access.of(context, origin.for.rights),
      relayedBy: this.#engine.id,
      caller,
      ref: idLow,
      trigger: origin.trigger,
      isTrustedWork: origin.is_trusted_work,
      isForRestricted: origin.is_for_restricted,
      isFromOutside: origin.is_from_outside,
      isJob: origin.is_job,
      isInternal: origin.is_internal,
      forwardedFor: origin.for,
      handed: origin.names_worker === true && this.#engine.isRouter ? this.#nameTo(idLow, idHigh) : undefined,
    };
    if (origin.on_behalf_of !== undefined) invokeOnBehalfOf(context, origin.on_behalf_of, request);
    else if (origin.enqueue === undefined) invoke(context, request);
    else deliver(context, request, origin.enqueue);
  }

  /** Reports to the other router which worker gets its call. */
  #nameTo(slot: number, idHigh: number): (worker: string) => void {
    const generation = idHigh >>> 0;
    return (worker) => this.#engine.sendControl(rawJson({ kind: 'handed', slot, generation, worker }));
  }

  result({ flags, idLow, idHigh, payloadStart, payloadEnd }: Readonly<ResultHeader>): void {
    const call = this.#context.calls.findByNumbers(idLow, idHigh, this.#engine);
    if (call === undefined) {
      this.#context.counters.count('invocations.late_results');
      return;
    }
    const isUnhanded = (flags & FLAG.isUnhanded) !== 0;
    const again = isUnhanded && relayAgain(this.#context, this.#engine, call);
    if (again === undefined) return;
    if (again !== false) return invoke(this.#context, again);
    const payload = this.#payload(flags, payloadStart, payloadEnd);
    const isError = (flags & FLAG.isError) !== 0;
    if (isUnhanded && payload !== undefined) countIfDropped(this.#context, call, readError(payload).code);
    settle(this.#context, call, isError ? { error: payload, isUnhanded } : { result: payload });
  }

  channel(header: Readonly<ChannelHeader>): void {
    this.channels.take(header, this.#message);
  }

  control(start: number, end: number): void {
    const { isRouter, onControl } = this.#engine;
    if (!isRouter) return this.refuse('a control frame, which engines do not send each other');
    onControl?.(asRawJson(this.#message.toString('latin1', start, end)));
  }

  shape(start: number, end: number, number: number): void {
    const keyList = this.#message.toString('utf8', start, end);
    const shape = number < SHAPES_MAX ? readShape(keyList) : undefined;
    if (shape === undefined) return this.refuse(`a shape ${number} that is not a list of keys`);
    const own = this.#context.compact.shapes.numberOf(keyList);
    this.#shapes[number] = { shape, number: own === undefined || own < 0 ? undefined : own };
  }

  refuse(reason: string): void {
    this.#engine.refuse(reason);
  }

  refuseCall(_idLow: number, _isVoid: boolean, reason: string): void {
    this.refuse(reason);
  }

  refuseResult(_idLow: number, _idHigh: number, reason: string): void {
    this.refuse(reason);
  }

  #readOrigin({ extraStart, extraEnd }: Readonly<CallHeader>): RelayedOrigin | undefined {
    const text = Payload.ofBytes(this.#message, extraStart + 4, extraEnd).asText();
    const origin = text === undefined ? undefined : parseRawJson(text);
    return isRelayedOrigin(origin) ? origin : undefined;
  }

  #payload(flags: number, start: number, end: number): Payload | undefined {
    if ((flags & FLAG.payload) === 0) return undefined;
    if ((flags & FLAG.packed) === 0) return Payload.ofBytes(this.#message, start, end);
    if (mapReferences(this.#message, start, end, this.#numberFor) !== 'unmapped') {
      // A reader of the value finds what else is invalid.
      return Payload.ofPacked(this.#message, start, end, this.#context.compact);
    }
    const value = this.#decoded(start, end);
    return value === undefined ? UNREADABLE : Payload.ofText(rawJson(value));
  }

  #decoded(start: number, end: number): unknown {
    try {
      return this.#decoder.decode(this.#message, start, end);
    } catch {
      return undefined;
    } finally {
      this.#decoder.forget();
    }
  }

  #section(isPresent: number, start: number, end: number): string | undefined {
    return isPresent === 0 ? undefined : this.#message.toString('utf8', start + 4, end);
  }
}

/** A caller that is connected to another engine. It is gone when the session that brought the call has ended. */
class RelayedCaller implements LocalCaller {
  readonly #engine: RemoteEngine;
  readonly #session: number;
  readonly #slot: number;
  readonly #generation: number;

  constructor(engine: RemoteEngine, slot: number, generation: number) {
    this.#engine = engine;
    this.#session = engine.session;
    this.#slot = slot;
    this.#generation = generation;
  }

  settle(outcome: Outcome): void {
    if (this.#engine.session === this.#session) this.#engine.sendResult(this.#slot, this.#generation, outcome);
  }
}

const NO_ORIGIN: RelayedOrigin = {};
/** JSON that no reader accepts: the payload has shapes that were never announced. */
const UNREADABLE = Payload.ofBytes(Buffer.from('?'), 0, 1);
