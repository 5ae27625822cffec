// What passes between the SDK and one connection, whichever form the engine chose for it: `wire-json.ts` and
// `wire-binary.ts` are the two forms, `link.ts` decides when what they hold leaves.
//
// Values of users (payloads, results, configurations) are encoded once, when the user hands them over, and travel
// through the SDK as `Encoded`: a call that waits for a connection carries what was meant when it was made. Both
// forms carry values as JSON text; payloads that need not wait may be encoded by the wire they leave on.

import type { CompactPayload } from '../protocol/compact-encode.ts';
import type {
  EngineFrame,
  ErrorBody,
  InvocationResult,
  InvokeFunction,
  TriggerOrigin,
  WorkerFrame,
} from '../protocol/frames.ts';
import type { PlatformSocket } from './platform.ts';

/** A user's value as it stands in a message. */
export type Encoded = string & { readonly encoded: unique symbol };

/** A payload or a result as it stands in a message: where the engine takes it, in the compact form. */
export type EncodedPayload = Encoded | CompactPayload;

/** One connection's form of the wire. It remembers what this connection was told, and is gone with it. */
export interface Wire {
  /**
   * A payload or a result for this wire, to be added before anything else is encoded. Undefined where there is nothing
   * to send; throws what JSON.stringify throws.
   */
  encode(value: unknown): EncodedPayload | undefined;
  /** Puts a call on its way; from then on its payload is the wire's. Returns about how long it will be. */
  addCall(call: EncodedCall): number;
  /** The answer to a call of the engine. */
  addResult(call: DeliveredCall, result: EncodedPayload | undefined): number;
  addError(call: DeliveredCall, error: Encoded): number;
  /** Any other frame, as `encodeFrame` made it. */
  addFrame(text: string): number;
  /** Hands everything added to the socket. */
  flush(): void;
  /** Forgets everything added. */
  discard(): void;
  /** Bytes that the message for a call takes, exactly; it walks over the texts. */
  callBytes(call: EncodedCall): number;
  /** The same for the answer to a call. */
  answerBytes(call: DeliveredCall, answer: EncodedPayload): number;
  /** Takes a message of the engine apart. */
  receive(message: string | Uint8Array, receiver: FrameReceiver): void;
}

/**
 * Speaks the form that the engine has chosen for the connection. `noteReference` is to be called when a message is read
 * that may hold a reference to a channel.
 */
export type OpenWire = (socket: PlatformSocket, frameBytesMax: number, noteReference: () => void) => Wire;

/** A call on its way out, complete but for its form on the wire. */
export interface EncodedCall {
  /** The id under which its answer will come, from 1 to 2^32 - 1; 0 when nobody waits. */
  readonly number: number;
  readonly functionId: string;
  readonly timeoutMs: number;
  /** How it is to be queued, if it is. */
  readonly action: Encoded | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  /** How deep in a chain of calls the one who makes it stands (I8); undefined where `baggage` tells. */
  readonly depth: number | undefined;
  metadata: Encoded | undefined;
  data: EncodedPayload | undefined;
}

/** A call the engine hands to this worker, without its payload: whatever keeps this must not keep that. */
export interface DeliveredCall {
  readonly functionId: string;
  /** Its id in the JSON form; in the binary form the two numbers are the id. */
  readonly idText: string | undefined;
  readonly idLow: number;
  readonly idHigh: number;
  readonly timeoutMs: number | undefined;
  readonly traceparent: string | undefined;
  /** The engine keeps no trace of it and has given it no id: whoever needs one makes it. */
  readonly isUntraced?: boolean;
  readonly baggage: string | undefined;
  /** Undefined where `baggage` tells. */
  readonly depth: number | undefined;
  readonly metadata: unknown;
  readonly trigger: TriggerOrigin | undefined;
}

/** Who takes what a message holds, one after the other. */
export interface FrameReceiver {
  onCall(call: DeliveredCall, payload: unknown): void;
  /** A call that cannot be handled, but can be answered. */
  onBrokenCall(call: DeliveredCall, error: ErrorBody): void;
  onResult(number: number, result: unknown): void;
  /** `traceparent`: the trace under which the engine ran the call, if it told. */
  onError(number: number, error: unknown, traceparent: string | undefined): void;
  onFrame(frame: ReceivedFrame): void;
  onUnreadable(problem: string): void;
}

/** What the engine sends beside calls and results. */
export type ReceivedFrame = Exclude<EngineFrame<unknown>, InvokeFunction<unknown> | InvocationResult<unknown>>;
/** What a worker sends beside them. */
export type SentFrame = Exclude<WorkerFrame<unknown>, InvokeFunction<unknown> | InvocationResult<unknown>>;

/** Undefined where there is nothing to send: `undefined`, functions, symbols. Throws for cycles and big integers. */
export function encodeValue(value: unknown): Encoded | undefined {
  // Typed as text always, but JSON.stringify returns undefined for what JSON has no word for.
  const text: string | undefined = JSON.stringify(value);
  return text === undefined ? undefined : asEncoded(text);
}

export function encodeError(error: ErrorBody): Encoded {
  return asEncoded(JSON.stringify(error));
}

export function encodeFrame(frame: SentFrame): string {
  return JSON.stringify(frame);
}

/** What no form of the wire makes longer; nearly always this alone shows that a call fits into a message. */
export function callBytesMax(call: EncodedCall): number {
  const { functionId, action, traceparent, baggage, metadata, data } = call;
  const headers = (traceparent?.length ?? 0) + (baggage?.length ?? 0);
  const values = (action?.length ?? 0) + (metadata?.length ?? 0) + (data?.length ?? 0);
  return CALL_FRAME_BYTES + ESCAPED_UNIT_BYTES * (functionId.length + headers) + UTF8_UNIT_BYTES * values;
}

/** The same for an answer. */
export function answerBytesMax(call: DeliveredCall, answer: EncodedPayload): number {
  return CALL_FRAME_BYTES + ESCAPED_UNIT_BYTES * (call.idText?.length ?? 0) + UTF8_UNIT_BYTES * answer.length;
}

/** More than either form puts around the texts of a call. */
const CALL_FRAME_BYTES = 256;
/** A unit of a text takes up to three bytes as UTF-8, and up to six where JSON has to escape it. */
const UTF8_UNIT_BYTES = 3;
const ESCAPED_UNIT_BYTES = 6;

/** The one place where text becomes `Encoded`: it has just come out of the encoder. */
function asEncoded(text: string): Encoded {
  return text as Encoded;
}
