// The JSON form, `svc.json.v1`: each message is a text frame of its own. Used if the engine selects it, and to make the
// wire readable for a person. The binary form sends its control frames as the same text.

import type { InvocationResult, InvokeFunction } from '../../protocol/frames/frames.ts';
import { isRecord } from '../../protocol/json/record.ts';
import { withDepth } from '../calls/trace-context.ts';
import { REF_MARK } from '../channels/channel-ref.ts';
import type { PlatformSocket } from '../worker/platform.ts';
import {
  type DeliveredCall,
  type Encoded,
  type EncodedCall,
  type EncodedResult,
  encodeValue,
  type FrameReceiver,
  type ReceivedFrame,
  utf8Length,
  type Wire,
} from './wire.ts';

export class JsonWire implements Wire {
  readonly #socket: PlatformSocket;
  readonly #noteReference: () => void;
  #texts: string[] = [];

  constructor(socket: PlatformSocket, noteReference: () => void) {
    this.#socket = socket;
    this.#noteReference = noteReference;
  }

  encode(value: unknown): Encoded | undefined {
    return encodeValue(value);
  }

  encodeResult(_call: DeliveredCall, value: unknown): Encoded | undefined {
    return encodeValue(value);
  }

  addCall(call: EncodedCall): number {
    const text = writeCall(call);
    // The text holds them now; the call may live on for an hour.
    call.data = undefined;
    call.metadata = undefined;
    return this.addFrame(text);
  }

  addResult(call: DeliveredCall, result: EncodedResult | undefined): number {
    const text = result === undefined ? '' : `,"result":${textOf(result)}`;
    return this.addFrame(`${answerStart(call)}${text}}`);
  }

  addError(call: DeliveredCall, error: Encoded): number {
    return this.addFrame(`${answerStart(call)},"error":${error}}`);
  }

  addFrame(text: string): number {
    this.#texts.push(text);
    return text.length;
  }

  flush(): void {
    if (this.#texts.length === 0) return;
    const texts = this.#texts;
    this.#texts = [];
    this.#socket.sendTexts(texts);
  }

  discard(): void {
    this.#texts = [];
  }

  callBytes(call: EncodedCall): number {
    return jsonCallBytes(call);
  }

  answerBytes(call: DeliveredCall, answer: EncodedResult): number {
    return utf8Length(answerStart(call)) + RESULT_FIELD_BYTES + utf8Length(textOf(answer));
  }

  receive(message: string | Uint8Array, receiver: FrameReceiver): void {
    if (typeof message !== 'string') {
      receiver.onUnreadable('a binary message on a connection of the JSON form');
      return;
    }
    if (message.includes(REF_MARK)) this.#noteReference();
    const frame = readFrame(message);
    switch (frame.type) {
      case 'invocationresult': {
        const { invocation_id, error, result, traceparent } = frame;
        // Other encoders may write an absent error as null.
        if (error === undefined || error === null) receiver.onResult(Number(invocation_id), result);
        else receiver.onError(Number(invocation_id), error, traceparent);
        return;
      }
      case 'invokefunction':
        receiver.onCall(readCall(frame), frame.data ?? null);
        return;
      case 'unreadable':
        receiver.onUnreadable(frame.problem);
        return;
      default:
        receiver.onFrame(frame);
    }
  }
}

/** The bytes of the call in this form; the other form is never longer. */
export function jsonCallBytes(call: EncodedCall): number {
  return utf8Length(writeCall(call));
}

// Written by hand: the payload is text already, and stringifying the envelope as an object costs twice as much. The
// payload comes last, so that a router finds all it needs at the front.
function writeCall(call: EncodedCall): string {
  const { number, action, traceparent, baggage, depth, metadata, data } = call;
  let text = `{"type":"invokefunction","function_id":${JSON.stringify(call.functionId)}`;
  if (number !== 0) text += `,"invocation_id":"${number}"`;
  text += `,"timeout_ms":${call.timeoutMs}`;
  if (action !== undefined) text += `,"action":${action}`;
  else if (number === 0) text += ',"action":{"type":"void"}';
  if (traceparent !== undefined) text += `,"traceparent":${JSON.stringify(traceparent)}`;
  const entries = depth === undefined || depth === 0 ? baggage : withDepth(baggage, depth);
  if (entries !== undefined) text += `,"baggage":${JSON.stringify(entries)}`;
  if (metadata !== undefined) text += `,"metadata":${metadata}`;
  return data === undefined ? `${text}}` : `${text},"data":${textOf(data)}}`;
}

function textOf(payload: EncodedResult): Encoded {
  if (typeof payload !== 'string') throw new Error('A payload of the binary form on a wire of the JSON form');
  return payload;
}

function answerStart({ idText, idLow }: DeliveredCall): string {
  return `{"type":"invocationresult","invocation_id":${JSON.stringify(idText ?? String(idLow))}`;
}

/** `,"result":` and the closing brace. */
const RESULT_FIELD_BYTES = 11;

function readCall(frame: JsonCall): DeliveredCall {
  return {
    functionId: frame.function_id,
    idText: frame.invocation_id,
    idLow: 0,
    idHigh: 0,
    timeoutMs: frame.timeout_ms,
    traceparent: frame.traceparent,
    baggage: frame.baggage,
    depth: undefined,
    metadata: frame.metadata,
    trigger: frame.trigger,
  };
}

export type JsonFrame = ReceivedFrame | InvocationResult<unknown> | JsonCall;
/** A call from the engine to this worker always has an id. */
export type JsonCall = InvokeFunction<unknown> & { invocation_id: string };

export interface Unreadable {
  readonly type: 'unreadable';
  readonly problem: string;
}

/** Reads the frame from a text of the engine, or says what is wrong with the text. */
export function readFrame(text: string): JsonFrame | Unreadable {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch (error) {
    return unreadable(error instanceof Error ? error.message : String(error));
  }
  if (!isRecord(frame)) return unreadable('not a JSON object');
  if (isJsonFrame(frame)) return frame;
  return unreadable(`type ${JSON.stringify(frame.type)} is unknown or lacks a required field`);
}

export function isOrigin(value: unknown): value is { type: string; id: string } {
  return isRecord(value) && isText(value.type) && isText(value.id);
}

type Fields = Record<string, unknown>;

/** Checks only what the SDK relies on: the engine may add fields at any time. */
function isJsonFrame(frame: Fields): frame is Fields & JsonFrame {
  switch (frame.type) {
    case 'invocationresult':
      return isText(frame.invocation_id) && isOptionalText(frame.traceparent);
    case 'invokefunction':
      return (
        isText(frame.function_id) &&
        isText(frame.invocation_id) &&
        (frame.timeout_ms === undefined || typeof frame.timeout_ms === 'number') &&
        isOptionalText(frame.traceparent) &&
        isOptionalText(frame.baggage) &&
        (frame.trigger === undefined || isOrigin(frame.trigger))
      );
    case 'workerregistered':
      return isText(frame.worker_id) && isText(frame.reattach_token) && isOptionalCount(frame.in_flight_per_caller);
    case 'registrationrejected':
      return (
        isText(frame.code) && isText(frame.function_id) && isOptionalText(frame.trigger_type) && isText(frame.message)
      );
    case 'registertrigger':
      return isText(frame.id) && isText(frame.trigger_type) && isText(frame.function_id);
    case 'unregistertrigger':
      return isText(frame.id) && isOptionalText(frame.trigger_type) && isOptionalText(frame.function_id);
    case 'triggerregistrationresult':
      return isText(frame.id) && isText(frame.trigger_type) && isText(frame.function_id);
    case 'draining':
    case 'ping':
    case 'pong':
      return true;
    default:
      return false;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isOptionalCount(value: unknown): boolean {
  return value === undefined || (Number.isSafeInteger(value) && Number(value) >= 1);
}

function unreadable(problem: string): Unreadable {
  return { type: 'unreadable', problem };
}
