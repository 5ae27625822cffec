// The JSON form, used by clients of `iii` and by the engine's own SDK where it asks for it: each message is a text
// frame.

import { withDepth } from '../../core/calls/call-depth.ts';
import { encodeEngineFrame } from '../../protocol/frames/encode.ts';
import type { InvocationResult, InvokeFunction } from '../../protocol/frames/frames.ts';
import { RAW_NULL, type RawJson } from '../../protocol/json/byte-string.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import type { TextOutbox } from '../../transport/outbox.ts';
import type { HandedCall } from '../calls/open-call.ts';
import type { Outcome } from '../calls/reply.ts';
import type { CallerRef, CallOrder, ControlFrame, Wire } from './wire.ts';

export class JsonWire implements Wire {
  readonly canSayUntraced = false;
  readonly #outbox: TextOutbox;
  /** Foreign clients ignore the engine's deadline and trigger; the engine's own SDK passes both to the handler. */
  readonly #isOwnSdk: boolean;

  constructor(outbox: TextOutbox, isOwnSdk: boolean) {
    this.#outbox = outbox;
    this.#isOwnSdk = isOwnSdk;
  }

  /** A payload that came as bytes is checked as JSON here, because it is sent as part of a text. */
  admit(payload: Payload): boolean {
    return payload.asText() !== undefined;
  }

  sendControl(frame: ControlFrame): void {
    this.#outbox.push(encodeEngineFrame(frame));
  }

  sendCall(call: HandedCall, order: CallOrder): void {
    const frame: InvokeFunction<RawJson> = {
      type: 'invokefunction',
      invocation_id: call.id,
      function_id: order.functionId,
      data: order.data?.asText() ?? RAW_NULL,
      baggage: withDepth(order.baggage, order.depth),
    };
    const metadata = order.metadata?.asText();
    if (metadata !== undefined) frame.metadata = metadata;
    if (order.traceparent !== undefined) frame.traceparent = order.traceparent;
    if (this.#isOwnSdk) {
      frame.timeout_ms = order.timeoutMs;
      if (order.trigger !== undefined) frame.trigger = order.trigger;
    }
    this.#outbox.push(encodeEngineFrame(frame));
  }

  sendResult(ref: CallerRef, functionId: string, { result, error, traceparent, baggage }: Outcome): void {
    const frame: InvocationResult<RawJson> = {
      type: 'invocationresult',
      invocation_id: String(ref),
      function_id: functionId,
    };
    const resultText = result?.asText();
    const errorText = error?.asText();
    if (resultText !== undefined) frame.result = resultText;
    if (errorText !== undefined) frame.error = errorText;
    if (traceparent !== undefined) frame.traceparent = traceparent;
    if (baggage !== undefined) frame.baggage = baggage;
    this.#outbox.push(encodeEngineFrame(frame));
  }
}
