// What a connection of the binary form sends: calls and results go straight to their verbs, everything else is the
// JSON frame that it carries.
//
// One of these per connection, because it remembers the names that the peer gave numbers to. Calls and results are
// handled where they lie in the message: payloads stay views of it, and nothing of it is kept.

import { Refusal } from '../core/refusal.ts';
import { isEnqueueAction } from '../generated/worker-frames.ts';
import { FLAG } from '../protocol/binary-layout.ts';
import { BatchReader, type BatchVisitor, type CallHeader, type ResultHeader } from '../protocol/binary-read.ts';
import { parseRawJson } from '../protocol/byte-string.ts';
import type { EnqueueAction } from '../protocol/frames.ts';
import { idOffence } from '../protocol/ids.ts';
import { CALL_TIMEOUT_MS_DEFAULT, ID_BYTES_MAX } from '../protocol/limits.ts';
import { Payload } from '../protocol/payload.ts';
import type { RouterContext } from './context.ts';
import { refuseEnqueue } from './enqueue.ts';
import { invoke, ownName, refuse } from './invoke.ts';
import { refuseFrame } from './refused-frames.ts';
import { outcomeOf } from './reply.ts';
import type { Session } from './session.ts';
import { checkedErrorPayload, settle } from './settle.ts';

export type TakeControl = (bytes: Uint8Array) => void;

export class BinaryFrames implements BatchVisitor {
  readonly #context: RouterContext;
  readonly #session: Session;
  readonly #takeControl: TakeControl;
  readonly #reader = new BatchReader();
  readonly #names: (string | undefined)[] = [];
  #message: Buffer = Buffer.alloc(0);

  constructor(context: RouterContext, session: Session, takeControl: TakeControl) {
    this.#context = context;
    this.#session = session;
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
    const text = end - start > ID_BYTES_MAX ? '' : this.#text(start, end);
    // What cannot be an id names nothing: calls by this number are refused one by one.
    const isId = idOffence(text) === undefined;
    this.#names[number] = !isId ? undefined : this.#context.settings.isDropIn ? ownName(text) : text;
  }

  call(header: Readonly<CallHeader>): void {
    const { flags, idLow, depth } = header;
    const session = this.#session;
    const functionId = this.#names[header.functionNumber];
    const caller = (flags & FLAG.isVoid) === 0 ? session : undefined;
    if (functionId === undefined) {
      const refusal = new Refusal(
        'BAD_REQUEST',
        `Function number ${header.functionNumber} was never given a name that can be an id`,
      );
      refuse(this.#context, caller, idLow, '', refusal);
    } else if ((flags & FLAG.extra) !== 0) {
      this.#enqueue(header, functionId);
    } else {
      invoke(this.#context, {
        functionId,
        data: this.#payload(flags & FLAG.payload, header.payloadStart, header.payloadEnd),
        metadata: this.#payload(flags & FLAG.metadata, header.metadataStart + 4, header.metadataEnd),
        traceparent:
          (flags & FLAG.traceparent) === 0 ? undefined : this.#text(header.traceparentStart + 4, header.traceparentEnd),
        baggage: (flags & FLAG.baggage) === 0 ? undefined : this.#text(header.baggageStart + 4, header.baggageEnd),
        depth,
        timeoutMs: header.timeoutMs === 0 ? CALL_TIMEOUT_MS_DEFAULT : header.timeoutMs,
        from: session,
        caller,
        ref: idLow,
        trigger: undefined,
      });
    }
  }

  result(header: Readonly<ResultHeader>): void {
    const call = this.#context.calls.findByNumbers(header.idLow, header.idHigh, this.#session);
    if (call === undefined) {
      this.#context.counters.count('invocations.late_results');
      return;
    }
    const payload = this.#payload(header.flags & FLAG.payload, header.payloadStart, header.payloadEnd);
    const isError = (header.flags & FLAG.isError) !== 0;
    if (isError) settle(this.#context, call, { error: checkedErrorPayload(payload) });
    else settle(this.#context, call, { result: payload });
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

  #enqueue(header: Readonly<CallHeader>, functionId: string): void {
    const caller = (header.flags & FLAG.isVoid) === 0 ? this.#session : undefined;
    const action = this.#readAction(header);
    if (action !== undefined) {
      refuseEnqueue(this.#context, caller, header.idLow, functionId, action);
      return;
    }
    const refusal = new Refusal('BAD_REQUEST', `The action of the call of ${functionId} is not one of enqueue`);
    refuse(this.#context, caller, header.idLow, functionId, refusal);
  }

  #readAction({ extraStart, extraEnd }: Readonly<CallHeader>): EnqueueAction | undefined {
    const text = Payload.ofBytes(this.#message, extraStart + 4, extraEnd).asText();
    const action = text === undefined ? undefined : parseRawJson(text);
    return isEnqueueAction(action) ? action : undefined;
  }

  #payload(isPresent: number, start: number, end: number): Payload | undefined {
    return isPresent === 0 ? undefined : Payload.ofBytes(this.#message, start, end);
  }

  #text(start: number, end: number): string {
    return this.#message.toString('utf8', start, end);
  }
}
