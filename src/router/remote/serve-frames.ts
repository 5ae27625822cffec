// Frames of another engine of the cluster: calls that workers of this engine run, and results of its own.
//
// One object per session, because it remembers the names that the other engine numbered. Calls and results are handled
// in place in the message: payloads stay views of it, and nothing of it is kept.

import { Refusal } from '../../core/calls/refusal.ts';
import { isRelayedOrigin } from '../../generated/worker-frames.ts';
import { FLAG } from '../../protocol/binary/binary-layout.ts';
import {
  BatchReader,
  type BatchVisitor,
  type CallHeader,
  type ResultHeader,
} from '../../protocol/binary/binary-messages.ts';
import { CALL_TIMEOUT_MS_DEFAULT } from '../../protocol/frames/limits.ts';
import { parseRawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { LocalCaller, Outcome } from '../calls/call.ts';
import { settle } from '../calls/in-flight.ts';
import { invoke, refuse } from '../calls/invoke.ts';
import type { RouterContext } from '../context.ts';
import { relayAgain } from './relayed-calls.ts';
import type { RelayedOrigin, RemoteEngine } from './remote-engine.ts';

export class ServeFrames implements BatchVisitor {
  readonly #context: RouterContext;
  readonly #engine: RemoteEngine;
  readonly #reader = new BatchReader();
  readonly #names: string[] = [];
  #message: Buffer = Buffer.alloc(0);

  constructor(context: RouterContext, engine: RemoteEngine) {
    this.#context = context;
    this.#engine = engine;
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
    const { idLow } = header;
    invoke(context, {
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
      // They were judged where the caller is connected.
      rights: undefined,
      relayedBy: this.#engine.id,
      caller,
      ref: idLow,
      trigger: origin.trigger,
      isTrustedWork: origin.is_trusted_work,
      isForRestricted: origin.is_for_restricted,
      isFromOutside: origin.is_from_outside,
      isJob: origin.is_job,
      isInternal: origin.is_internal,
    });
  }

  result({ flags, idLow, idHigh, payloadStart, payloadEnd }: Readonly<ResultHeader>): void {
    const call = this.#context.calls.findByNumbers(idLow, idHigh, this.#engine);
    if (call === undefined) {
      this.#context.counters.count('invocations.late_results');
      return;
    }
    if ((flags & FLAG.isUnhanded) !== 0 && relayAgain(this.#context, this.#engine, call)) return;
    const payload = this.#payload(flags, payloadStart, payloadEnd);
    settle(this.#context, call, (flags & FLAG.isError) !== 0 ? { error: payload } : { result: payload });
  }

  control(): void {
    this.refuse('a control frame, which engines do not send each other');
  }

  shape(): void {
    this.refuse('a shape, which engines do not send each other');
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
    return (flags & FLAG.payload) === 0 ? undefined : Payload.ofBytes(this.#message, start, end);
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
