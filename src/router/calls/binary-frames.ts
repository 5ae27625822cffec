// Frames of a connection of the binary form: calls and results go straight to their verbs, everything else is the JSON
// frame that it carries.
//
// One object per connection, because it remembers the names that the client numbered. Calls and results are handled in
// place in the message: payloads stay views of it, and nothing of it is kept.

import { Refusal } from '../../core/calls/refusal.ts';
import { isEnqueueAction } from '../../generated/worker-frames.ts';
import { FLAG } from '../../protocol/binary/binary-layout.ts';
import {
  BatchReader,
  type BatchVisitor,
  type CallHeader,
  type ResultHeader,
} from '../../protocol/binary/binary-messages.ts';
import type { EnqueueAction } from '../../protocol/frames/frames.ts';
import { CALL_TIMEOUT_MS_DEFAULT, ID_BYTES_MAX, idOffence } from '../../protocol/frames/limits.ts';
import { replyForm } from '../../protocol/http/reply-record.ts';
import { parseRawJson, RAW_NULL } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import { SHAPES_ASKED_MAX } from '../../protocol/payload/shape.ts';
import type { CallRequest, RouterContext } from '../context.ts';
import { admitCall, chargeMessage, guardCall } from '../restricted/guarded-calls.ts';
import { contextOfCaller } from '../session/observe.ts';
import type { Session } from '../session/session.ts';
import type { BinaryWire } from '../session/wire.ts';
import { outcomeOf } from './call.ts';
import { checkedErrorPayload, settle } from './in-flight.ts';
import { deliver, ownName, refuse } from './invoke.ts';
import { refuseFrame } from './refused-frames.ts';

export type TakeControl = (bytes: Uint8Array) => void;

export class BinaryFrames implements BatchVisitor {
  readonly #context: RouterContext;
  readonly #session: Session;
  readonly #takeControl: TakeControl;
  readonly #reader = new BatchReader();
  readonly #names: (string | undefined)[] = [];
  #message: Buffer = Buffer.alloc(0);
  readonly #wire: BinaryWire;
  #shapesAsked = 0;
  /** A worker enqueues to the same queue again and again. */
  #lastActionBytes: Buffer = Buffer.alloc(0);
  #lastAction: EnqueueAction | undefined;

  constructor(context: RouterContext, session: Session, wire: BinaryWire, takeControl: TakeControl) {
    this.#context = context;
    this.#session = session;
    this.#wire = wire;
    this.#takeControl = takeControl;
  }

  receive(bytes: Uint8Array): void {
    this.#message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#reader.read(bytes, this);
  }

  control(start: number, end: number): void {
    this.#takeControl(this.#message.subarray(start, end));
  }

  name(number: number, start: number, end: number): void {
    this.#noteMessage();
    const text = end - start > ID_BYTES_MAX ? '' : this.#text(start, end);
    // An id that is invalid names no function: each call by this number is refused.
    const isId = idOffence(text) === undefined;
    this.#names[number] = !isId ? undefined : this.#context.settings.isDropIn ? ownName(text) : text;
  }

  shape(start: number, end: number): void {
    this.#noteMessage();
    const { compact, counters, logger } = this.#context;
    const { guard, displayName } = this.#session;
    const isCompact = this.#wire.form.name === 'compact';
    const mayAsk = guard === undefined && ++this.#shapesAsked <= SHAPES_ASKED_MAX;
    const number = mayAsk ? compact.shapes.numberOf(this.#text(start, end)) : -1;
    if (number === undefined || !isCompact) {
      this.refuse('a shape that is not a list of keys, or on a connection without compact payloads');
    } else if (number >= 0) {
      this.#wire.sendShape(number);
    } else {
      // Payloads of that shape carry their keys.
      counters.count('shapes.refused');
      logger.debug('A shape got no number', { worker: displayName, shapes: compact.shapes.size });
    }
  }

  call(header: Readonly<CallHeader>): void {
    const { flags, idLow, depth } = header;
    const session = this.#session;
    const functionId = this.#names[header.functionNumber];
    const caller = (flags & FLAG.isVoid) === 0 ? session : undefined;
    if (session.guard !== undefined && !admitCall(this.#context, session, session.guard, caller, idLow)) return;
    if (functionId === undefined) {
      const refusal = new Refusal(
        'BAD_REQUEST',
        `Function number ${header.functionNumber} was never given a valid function id`,
      );
      refuse(this.#context, caller, idLow, '', refusal);
      return;
    }
    const enqueue = (flags & FLAG.extra) === 0 ? undefined : this.#readAction(header);
    if (enqueue === undefined && (flags & FLAG.extra) !== 0) {
      const refusal = new Refusal('BAD_REQUEST', `The action of the call of ${functionId} is not one of enqueue`);
      refuse(this.#context, caller, idLow, functionId, refusal);
      return;
    }
    const request: CallRequest = {
      functionId,
      data: this.#payload(flags, header.payloadStart, header.payloadEnd),
      metadata: this.#metadata(header),
      traceparent: contextOfCaller(
        this.#context,
        session,
        (flags & FLAG.traceparent) === 0 ? undefined : this.#text(header.traceparentStart + 4, header.traceparentEnd),
      ),
      baggage: (flags & FLAG.baggage) === 0 ? undefined : this.#text(header.baggageStart + 4, header.baggageEnd),
      depth,
      timeoutMs: header.timeoutMs === 0 ? CALL_TIMEOUT_MS_DEFAULT : header.timeoutMs,
      from: session,
      rights: session.access,
      caller,
      ref: idLow,
      trigger: undefined,
    };
    if (session.guard === undefined) deliver(this.#context, request, enqueue);
    else guardCall(this.#context, session, session.guard, request, enqueue);
  }

  result(header: Readonly<ResultHeader>): void {
    this.#noteMessage();
    const call = this.#context.calls.findByNumbers(header.idLow, header.idHigh, this.#session);
    if (call === undefined) {
      this.#context.counters.count('invocations.late_results');
      return;
    }
    const isError = (header.flags & FLAG.isError) !== 0;
    if (isError && (header.flags & FLAG.isUnhanded) !== 0) {
      return this.refuseResult(header.idLow, header.idHigh, 'a flag that only engines send each other');
    }
    const isReply = (header.flags & FLAG.isReply) !== 0;
    if (isReply && !this.#wire.hasRecords) {
      const reason = 'a reply as a record, on a connection without records';
      return this.refuseResult(header.idLow, header.idHigh, reason);
    }
    const payload = isReply
      ? Payload.ofPacked(this.#message, header.payloadStart, header.payloadEnd, replyForm)
      : this.#payload(header.flags, header.payloadStart, header.payloadEnd);
    const outcome = isError ? { error: checkedErrorPayload(payload) } : { result: payload };
    settle(this.#context, call, outcome, this.#session.lastHeardMs);
  }

  refuse(reason: string): void {
    refuseFrame(this.#context, this.#session, this.#message, reason);
  }

  refuseCall(idLow: number, isVoid: boolean, reason: string): void {
    this.refuse(reason);
    const refusal = new Refusal('BAD_REQUEST', `The call could not be read: ${reason}`);
    refuse(this.#context, isVoid ? undefined : this.#session, idLow, '', refusal);
  }

  refuseResult(idLow: number, idHigh: number, reason: string): void {
    this.refuse(reason);
    const call = this.#context.calls.findByNumbers(idLow, idHigh, this.#session);
    if (call === undefined) return;
    const refusal = new Refusal('BAD_REQUEST', `The worker's result could not be read: ${reason}`);
    settle(this.#context, call, outcomeOf(refusal));
  }

  /** Answers and names are accepted at any rate: calls must end, and a numbered function may be called. */
  #noteMessage(): void {
    if (this.#session.guard !== undefined) chargeMessage(this.#context, this.#session, this.#session.guard);
  }

  #readAction({ extraStart, extraEnd }: Readonly<CallHeader>): EnqueueAction | undefined {
    const bytes = this.#message.subarray(extraStart + 4, extraEnd);
    if (this.#lastActionBytes.equals(bytes)) return this.#lastAction;
    const text = Payload.ofBytes(bytes, 0, bytes.length).asText();
    const action = text === undefined ? undefined : parseRawJson(text);
    if (!isEnqueueAction(action)) return undefined;
    if (action.idempotency_key === undefined) {
      this.#lastActionBytes = Buffer.from(bytes);
      this.#lastAction = action;
    }
    return action;
  }

  #payload(flags: number, start: number, end: number): Payload | undefined {
    if ((flags & FLAG.payload) === 0) return undefined;
    if ((flags & FLAG.packed) === 0) return Payload.ofBytes(this.#message, start, end);
    return Payload.ofPacked(this.#message, start, end, this.#wire.form);
  }

  /** Null counts as absent, as in the JSON form. */
  #metadata({ flags, metadataStart, metadataEnd }: Readonly<CallHeader>): Payload | undefined {
    if ((flags & FLAG.metadata) === 0) return undefined;
    const metadata = Payload.ofBytes(this.#message, metadataStart + 4, metadataEnd);
    return metadata.byteLength === RAW_NULL.length && metadata.asText() === RAW_NULL ? undefined : metadata;
  }

  #text(start: number, end: number): string {
    return this.#message.toString('utf8', start, end);
  }
}
