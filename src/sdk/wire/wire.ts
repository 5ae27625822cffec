// The interface between the SDK and one connection, for either form that the engine selects: `json-wire.ts` and
// `binary-wire.ts` are the two forms, `link.ts` decides when their messages leave.
//
// Values of users (payloads, results, configurations) are encoded once, when the user passes them in, and travel
// through the SDK as `Encoded`: a call that waits for a connection carries the value of the time it was made. Both
// forms carry values as JSON text; payloads that need not wait may be encoded by the wire they leave on.

import type {
  EngineFrame,
  ErrorBody,
  InvocationResult,
  InvokeFunction,
  TriggerOrigin,
  WorkerFrame,
} from '../../protocol/frames/frames.ts';
import type { CompactPayload } from '../../protocol/payload/compact-encode.ts';
import type { PlatformSocket } from '../worker/platform.ts';
import type { EncodedReply } from './reply-encode.ts';

/** An upper limit for what either form adds around the texts of a call. */
const CALL_FRAME_BYTES = 256;
/** A unit of a text takes up to three bytes as UTF-8, and up to six if JSON has to escape it. */
const UTF8_UNIT_BYTES = 3;
const ESCAPED_UNIT_BYTES = 6;

/** A user's value in the form in which a message contains it. */
export type Encoded = string & { readonly encoded: unique symbol };

/** A payload as a message contains it: in the compact form, if it has one. */
export type EncodedPayload = Encoded | CompactPayload;
/** The same of a result: the record of a reply, if it answers a request. */
export type EncodedResult = EncodedPayload | EncodedReply;

/** One connection's form of the wire. Its state, such as numbers for names, belongs to this connection alone. */
export interface Wire {
  /**
   * Encodes a payload for this wire; it must be added before anything else is encoded. Undefined if there is nothing to
   * send; throws what JSON.stringify throws.
   */
  encode(value: unknown): EncodedPayload | undefined;
  /** The same for the result of a call of the engine. */
  encodeResult(call: DeliveredCall, value: unknown): EncodedResult | undefined;
  /** Adds a call; its payload belongs to the wire from then on. Returns its approximate length. */
  addCall(call: EncodedCall): number;
  /** Adds the answer to a call of the engine. */
  addResult(call: DeliveredCall, result: EncodedResult | undefined): number;
  addError(call: DeliveredCall, error: Encoded): number;
  /** Adds any other frame, encoded by `encodeFrame`. */
  addFrame(text: string): number;
  /** Passes everything added to the socket. */
  flush(): void;
  /** Drops everything added. */
  discard(): void;
  /** The exact number of bytes of the message for a call; it reads the texts to count them. */
  callBytes(call: EncodedCall): number;
  /** The same for the answer to a call. */
  answerBytes(call: DeliveredCall, answer: EncodedResult): number;
  /** Parses a message of the engine. */
  receive(message: string | Uint8Array, receiver: FrameReceiver): void;
}

/**
 * Opens the form that the engine has selected for the connection. It calls `noteReference` when it reads a message that
 * may hold a reference to a channel.
 */
export type OpenWire = (socket: PlatformSocket, frameBytesMax: number, noteReference: () => void) => Wire;

/** An outgoing call, complete except for its form on the wire. */
export interface EncodedCall {
  /** The id under which its answer will arrive, from 1 to 2^32 - 1; 0 if no caller waits. */
  readonly number: number;
  readonly functionId: string;
  readonly timeoutMs: number;
  /** The delivery through a queue, if any. */
  readonly action: Encoded | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  /** The depth of the caller in its chain of calls (I8); undefined if `baggage` holds it. */
  readonly depth: number | undefined;
  metadata: Encoded | undefined;
  data: EncodedPayload | undefined;
}

/** A call that the engine hands to this worker, without its payload, so that keeping this does not keep the payload. */
export interface DeliveredCall {
  readonly functionId: string;
  /** Its id in the JSON form; in the binary form the two numbers are the id. */
  readonly idText: string | undefined;
  readonly idLow: number;
  readonly idHigh: number;
  readonly timeoutMs: number | undefined;
  readonly traceparent: string | undefined;
  /** The engine keeps no trace of it and has assigned no trace id: code that needs one creates it. */
  readonly isUntraced?: boolean;
  readonly baggage: string | undefined;
  /** Undefined if `baggage` holds it. */
  readonly depth: number | undefined;
  readonly metadata: unknown;
  readonly trigger: TriggerOrigin | undefined;
  /** Its payload came as the record of a request, so its result may be the record of a reply. */
  readonly isRequest?: boolean;
}

/** Receives the contents of a message, one after the other. */
export interface FrameReceiver {
  onCall(call: DeliveredCall, payload: unknown): void;
  /** A call that cannot be handled, but can be answered. */
  onBrokenCall(call: DeliveredCall, error: ErrorBody): void;
  onResult(number: number, result: unknown): void;
  /** `traceparent`: the trace under which the engine ran the call, if it reported one. */
  onError(number: number, error: unknown, traceparent: string | undefined): void;
  onFrame(frame: ReceivedFrame): void;
  onUnreadable(problem: string): void;
}

/** What the engine sends apart from calls and results. */
export type ReceivedFrame = Exclude<EngineFrame<unknown>, InvokeFunction<unknown> | InvocationResult<unknown>>;
/** What a worker sends apart from them. */
export type SentFrame = Exclude<WorkerFrame<unknown>, InvokeFunction<unknown> | InvocationResult<unknown>>;

/** The only place where text becomes `Encoded`: it comes directly from the encoder. */
function asEncoded(text: string): Encoded {
  return text as Encoded;
}

/** Undefined if there is nothing to send: `undefined`, functions, symbols. Throws for cycles and big integers. */
export function encodeValue(value: unknown): Encoded | undefined {
  // Its type is always string, but JSON.stringify returns undefined for values that JSON cannot express.
  const text: string | undefined = JSON.stringify(value);
  return text === undefined ? undefined : asEncoded(text);
}

export function encodeError(error: ErrorBody): Encoded {
  return asEncoded(JSON.stringify(error));
}

export function encodeFrame(frame: SentFrame): string {
  return JSON.stringify(frame);
}

/** An upper limit for every form of the wire; it nearly always suffices to show that a call fits into a message. */
export function callBytesMax(call: EncodedCall): number {
  const { functionId, action, traceparent, baggage, metadata, data } = call;
  const headers = (traceparent?.length ?? 0) + (baggage?.length ?? 0);
  const values = (action?.length ?? 0) + (metadata?.length ?? 0) + (data?.length ?? 0);
  return CALL_FRAME_BYTES + ESCAPED_UNIT_BYTES * (functionId.length + headers) + UTF8_UNIT_BYTES * values;
}

/** The same for an answer. */
export function answerBytesMax(call: DeliveredCall, answer: EncodedResult): number {
  return CALL_FRAME_BYTES + ESCAPED_UNIT_BYTES * (call.idText?.length ?? 0) + UTF8_UNIT_BYTES * answer.length;
}

export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes; any other unit from 0x800 on is three bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/** Whether a text is longer than `bytesMax`. The number of units alone nearly always decides. */
export function exceedsUtf8(text: string, bytesMax: number): boolean {
  if (text.length * 3 <= bytesMax) return false;
  return text.length > bytesMax || utf8Length(text) > bytesMax;
}
