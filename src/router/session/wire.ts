// How a session sends: the router's messages, in the form that the client asked for. The session holds one of the two
// forms for its life.
//
// JSON: each message is a text frame. Clients of `iii` use it, and the engine's own SDK where it asks for it.
// Binary: messages gather in one buffer and leave as one frame at the end of the turn.

import { FUNCTION_ENTRY, withBaggageEntry, withDepth } from '../../core/calls/call-depth.ts';
import { CompactPayloads } from '../../core/calls/compact-payloads.ts';
import { UNTRACED } from '../../core/telemetry/spans/context.ts';
import { NAMES_MAX } from '../../protocol/binary/binary-layout.ts';
import type { MessageBuffer } from '../../protocol/binary/binary-messages.ts';
import { encodeEngineFrame } from '../../protocol/frames/encode.ts';
import type { EngineFrame, InvocationResult, InvokeFunction, TriggerOrigin } from '../../protocol/frames/frames.ts';
import type { RouteConstants } from '../../protocol/http/record-layout.ts';
import { RequestRecord } from '../../protocol/http/request-record.ts';
import type { RouteText } from '../../protocol/http/request-text.ts';
import { asRawJson, quoted, RAW_NULL, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import type { MessagePackForm } from '../../protocol/payload/message-pack.ts';
import { MESSAGE_PACK_BYTES_MAX } from '../../protocol/payload/message-pack-check.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import { SHAPES_MAX } from '../../protocol/payload/shape.ts';
import type { BinarySendQueue, TextSendQueue } from '../../transport/send-queue.ts';
import type { CallerRef, CallOrder, Outcome } from '../calls/call.ts';

/** Frames whose speed does not matter. */
export type ControlFrame = Exclude<EngineFrame<RawJson>, InvokeFunction<RawJson> | InvocationResult<RawJson>>;

/** A call in flight under the names that an executor knows it by: a text, or slot and generation. */
export interface SentCall {
  readonly id: string;
  readonly slot: number;
  readonly generation: number;
}

export interface Wire {
  /** Whether `CallOrder.traceparent` may be `UNTRACED`. */
  readonly canSayUntraced: boolean;
  /**
   * To be called before a payload is sent: makes sure that the client will be able to read it. False: no client can,
   * and the caller of this answers with the refusal.
   */
  admit(payload: Payload): boolean;
  sendControl(frame: ControlFrame): void;
  sendCall(call: SentCall, order: CallOrder): void;
  sendResult(ref: CallerRef, functionId: string, outcome: Outcome): void;
}

export class JsonWire implements Wire {
  readonly canSayUntraced = false;
  readonly #sendQueue: TextSendQueue;
  /** Foreign clients ignore the engine's deadline and trigger; the engine's own SDK passes both to the handler. */
  readonly #isOwnSdk: boolean;

  constructor(sendQueue: TextSendQueue, isOwnSdk: boolean) {
    this.#sendQueue = sendQueue;
    this.#isOwnSdk = isOwnSdk;
  }

  /** A payload that came as bytes is checked as JSON here, because it is sent as part of a text. */
  admit(payload: Payload): boolean {
    return payload.asText() !== undefined;
  }

  sendControl(frame: ControlFrame): void {
    this.#sendQueue.push(encodeEngineFrame(frame));
  }

  sendCall(call: SentCall, order: CallOrder): void {
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
    this.#sendQueue.push(encodeEngineFrame(frame));
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
    this.#sendQueue.push(encodeEngineFrame(frame));
  }
}

export class BinaryWire implements Wire {
  readonly canSayUntraced = true;
  readonly #sendQueue: BinarySendQueue;
  /** Functions whose number was sent to this client. */
  readonly #numbers = new Map<string, number>();
  /** The form of packed payloads of this client. */
  readonly form: CompactPayloads | MessagePackForm;
  /** Whether requests and replies of HTTP triggers are records. */
  readonly hasRecords: boolean;
  /** Routes whose number was sent to this client. */
  #routes = new WeakMap<RouteText, SentRoute>();
  #routeCount = 0;
  /** By number, the shapes that were sent to this client. */
  #sentShapes: Uint8Array | undefined = undefined;

  constructor(sendQueue: BinarySendQueue, form: CompactPayloads | MessagePackForm, hasRecords: boolean) {
    this.#sendQueue = sendQueue;
    this.form = form;
    this.hasRecords = hasRecords;
  }

  admit(payload: Payload): boolean {
    if (payload.form === 'JSON') return true;
    if (payload.form === 'request' && this.hasRecords) return true;
    if (payload.form !== this.form.name) return this.#inForm(payload) !== undefined;
    if (payload.form === 'compact') return payload.visitShapes(this.sendShape);
    return payload.byteLength <= MESSAGE_PACK_BYTES_MAX;
  }

  sendControl(frame: ControlFrame): void {
    this.#sendQueue.open()?.control(encodeEngineFrame(frame));
  }

  sendCall(call: SentCall, order: CallOrder): void {
    const messages = this.#sendQueue.open();
    if (messages === undefined) return;
    const isUntraced = order.traceparent === UNTRACED;
    const record = this.hasRecords ? order.data?.written : undefined;
    if (record instanceof RequestRecord && order.trigger !== undefined) {
      this.#sendRequest(messages, call, order, record, order.trigger);
      return;
    }
    messages.call({
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

  /** What its route has in common with it is sent once, and before. */
  #sendRequest(
    messages: MessageBuffer,
    call: SentCall,
    order: CallOrder,
    record: RequestRecord,
    trigger: TriggerOrigin,
  ): void {
    const route = this.#routes.get(record.head.route) ?? this.#announceRoute(messages, order, record, trigger);
    const isUntraced = order.traceparent === UNTRACED;
    const isUsual = !isUntraced && order.traceparent !== undefined && order.baggage === route.baggage;
    messages.call({
      idLow: call.slot,
      idHigh: call.generation,
      functionNumber: route.number,
      depth: order.depth,
      timeoutMs: order.timeoutMs,
      metadata: order.metadata,
      isUntraced,
      traceparent: isUntraced ? undefined : order.traceparent,
      baggage: isUsual ? undefined : order.baggage,
      extra: undefined,
      payload: order.data,
    });
  }

  #announceRoute(messages: MessageBuffer, order: CallOrder, record: RequestRecord, trigger: TriggerOrigin): SentRoute {
    const { head, channels } = record;
    // A worker that binds and drops routes for ever restarts the numbering: a number may be reused.
    if (this.#routeCount === NAMES_MAX) {
      this.#routes = new WeakMap();
      this.#routeCount = 0;
    }
    const route = { number: this.#routeCount++, baggage: withBaggageEntry('', FUNCTION_ENTRY, order.functionId) };
    const constants: RouteConstants = {
      function_id: order.functionId,
      trigger: { type: trigger.type, id: trigger.id },
      method: head.route.method,
      path: head.route.path,
      parameters: head.route.parameters,
      channels: channels.suffix,
      baggage: route.baggage,
    };
    this.#routes.set(head.route, route);
    messages.route(route.number, rawJson(constants));
    return route;
  }

  sendResult(ref: CallerRef, _functionId: string, { result, error }: Outcome): void {
    this.#sendQueue.open()?.result(Number(ref), 0, this.#inForm(error ?? result), error !== undefined);
  }

  #inForm(payload: Payload | undefined): Payload | undefined {
    const { form } = this;
    if (payload === undefined || payload.form === form.name) return payload;
    return form.name === 'compact' ? payload.asJson() : payload.asMessagePack(form);
  }

  /** Sends the client the shape of the number, unless it has it. False if the number has no shape. */
  readonly sendShape = (number: number): boolean => {
    const sent = this.#sentShapes;
    if (sent?.[number] === 1) return true;
    const keyList = this.form instanceof CompactPayloads ? this.form.shapes.keyList(number) : undefined;
    if (keyList === undefined) return false;
    this.#sentShapes = sent ?? new Uint8Array(SHAPES_MAX);
    this.#sentShapes[number] = 1;
    this.#sendQueue.open()?.shape(number, keyList);
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

interface SentRoute {
  readonly number: number;
  /** Of calls that have a trace and no baggage of their own. */
  readonly baggage: string;
}

function originText({ type, id }: TriggerOrigin): RawJson {
  return asRawJson(`{"type":${quoted(type)},"id":${quoted(id)}}`);
}
