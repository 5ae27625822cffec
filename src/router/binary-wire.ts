// The binary form of our own SDK: messages gather in one buffer and leave as one frame at the end of the turn.

import { NAMES_MAX } from '../protocol/binary-layout.ts';
import type { MessageBuffer } from '../protocol/binary-write.ts';
import { rawJson } from '../protocol/byte-string.ts';
import { encodeEngineFrame } from '../protocol/encode.ts';
import type { BinaryOutbox } from '../transport/outbox.ts';
import type { HandedCall } from './open-call.ts';
import type { Outcome } from './reply.ts';
import type { CallerRef, CallOrder, ControlFrame, Wire } from './wire.ts';

export class BinaryWire implements Wire {
  readonly needsText = false;
  readonly #outbox: BinaryOutbox;
  /** Functions that this peer has been told a number for. */
  readonly #numbers = new Map<string, number>();

  constructor(outbox: BinaryOutbox) {
    this.#outbox = outbox;
  }

  sendControl(frame: ControlFrame): void {
    this.#outbox.open()?.control(encodeEngineFrame(frame));
  }

  sendCall(call: HandedCall, order: CallOrder): void {
    const messages = this.#outbox.open();
    messages?.call({
      idLow: call.slot,
      idHigh: call.generation,
      functionNumber: this.#numberOf(order.functionId, messages),
      depth: order.depth,
      timeoutMs: order.timeoutMs,
      metadata: order.metadata,
      traceparent: order.traceparent,
      baggage: order.baggage,
      extra: order.trigger === undefined ? undefined : rawJson(order.trigger),
      payload: order.data,
    });
  }

  sendResult(ref: CallerRef, _functionId: string, { result, error }: Outcome): void {
    this.#outbox.open()?.result(Number(ref), 0, error ?? result, error !== undefined);
  }

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
