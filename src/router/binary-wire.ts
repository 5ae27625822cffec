// The binary form of our own SDK: messages gather in one buffer and leave as one frame at the end of the turn.

import type { ShapeTable } from '../core/shape-table.ts';
import { UNTRACED } from '../core/telemetry/context.ts';
import { NAMES_MAX } from '../protocol/binary-layout.ts';
import type { MessageBuffer } from '../protocol/binary-write.ts';
import { asRawJson, quoted, type RawJson } from '../protocol/byte-string.ts';
import { encodeEngineFrame } from '../protocol/encode.ts';
import type { TriggerOrigin } from '../protocol/frames.ts';
import type { Payload } from '../protocol/payload.ts';
import { SHAPES_MAX } from '../protocol/shape.ts';
import type { BinaryOutbox } from '../transport/outbox.ts';
import type { HandedCall } from './open-call.ts';
import type { Outcome } from './reply.ts';
import type { CallerRef, CallOrder, ControlFrame, Wire } from './wire.ts';

export class BinaryWire implements Wire {
  readonly canSayUntraced = true;
  readonly #outbox: BinaryOutbox;
  /** Functions that this peer has been told a number for. */
  readonly #numbers = new Map<string, number>();
  /** Where the peer takes compact payloads: all shapes there are, and by their numbers those it was told. */
  readonly #shapes: ShapeTable | undefined;
  #toldShapes: Uint8Array | undefined = undefined;

  constructor(outbox: BinaryOutbox, shapes: ShapeTable | undefined) {
    this.#outbox = outbox;
    this.#shapes = shapes;
  }

  get takesCompact(): boolean {
    return this.#shapes !== undefined;
  }

  admit(payload: Payload): boolean {
    if (!payload.isCompact) return true;
    return this.#shapes === undefined ? payload.asText() !== undefined : payload.visitShapes(this.#tellShape);
  }

  /** Tells the peer what the number stands for, unless it knows; false if it stands for nothing. */
  tellShape(number: number): boolean {
    return this.#tellShape(number);
  }

  sendControl(frame: ControlFrame): void {
    this.#outbox.open()?.control(encodeEngineFrame(frame));
  }

  sendCall(call: HandedCall, order: CallOrder): void {
    const messages = this.#outbox.open();
    const isUntraced = order.traceparent === UNTRACED;
    messages?.call({
      idLow: call.slot,
      idHigh: call.generation,
      functionNumber: this.#numberOf(order.functionId, messages),
      depth: order.depth,
      timeoutMs: order.timeoutMs,
      metadata: order.metadata,
      isUntraced,
      traceparent: isUntraced ? undefined : order.traceparent,
      baggage: order.baggage,
      extra: order.trigger && originText(order.trigger),
      payload: this.#inForm(order.data),
    });
  }

  sendResult(ref: CallerRef, _functionId: string, { result, error }: Outcome): void {
    this.#outbox.open()?.result(Number(ref), 0, this.#inForm(error ?? result), error !== undefined);
  }

  #inForm(payload: Payload | undefined): Payload | undefined {
    return this.#shapes === undefined ? payload?.asJson() : payload;
  }

  readonly #tellShape = (number: number): boolean => {
    const told = this.#toldShapes;
    if (told?.[number] === 1) return true;
    const keyList = this.#shapes?.keyList(number);
    if (keyList === undefined) return false;
    this.#toldShapes = told ?? new Uint8Array(SHAPES_MAX);
    this.#toldShapes[number] = 1;
    this.#outbox.open()?.shape(number, keyList);
    return true;
  };

  #numberOf(functionId: string, messages: MessageBuffer): number {
    const known = this.#numbers.get(functionId);
    if (known !== undefined) return known;
    // A worker that registers and drops functions for ever starts anew: a number may be given again.
    if (this.#numbers.size === NAMES_MAX) this.#numbers.clear();
    const number = this.#numbers.size;
    this.#numbers.set(functionId, number);
    messages.name(number, functionId);
    return number;
  }
}

function originText({ type, id }: TriggerOrigin): RawJson {
  return asRawJson(`{"type":${quoted(type)},"id":${quoted(id)}}`);
}
