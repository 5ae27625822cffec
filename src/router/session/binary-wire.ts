// The binary form of the engine's own SDK: messages gather in one buffer and leave as one frame at the end of the turn.

import type { ShapeTable } from '../../core/calls/compact-payloads.ts';
import { UNTRACED } from '../../core/telemetry/spans/context.ts';
import { NAMES_MAX } from '../../protocol/binary/binary-layout.ts';
import type { MessageBuffer } from '../../protocol/binary/binary-messages.ts';
import { encodeEngineFrame } from '../../protocol/frames/encode.ts';
import type { TriggerOrigin } from '../../protocol/frames/frames.ts';
import { asRawJson, quoted, type RawJson } from '../../protocol/json/byte-string.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import { SHAPES_MAX } from '../../protocol/payload/shape.ts';
import type { BinaryOutbox } from '../../transport/outbox.ts';
import type { HandedCall } from '../calls/open-call.ts';
import type { Outcome } from '../calls/reply.ts';
import type { CallerRef, CallOrder, ControlFrame, Wire } from './wire.ts';

export class BinaryWire implements Wire {
  readonly canSayUntraced = true;
  readonly #outbox: BinaryOutbox;
  /** Functions whose number was sent to this client. */
  readonly #numbers = new Map<string, number>();
  /** Set where the client takes compact payloads: all known shapes, and by number those that were sent to it. */
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

  /** Sends the client the shape of the number, unless it has it. False if the number has no shape. */
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
    // A worker that registers and drops functions for ever restarts the numbering: a number may be reused.
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
