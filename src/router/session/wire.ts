// How a session sends: the router's messages, in the form that the client asked for.
//
// Neighbours: `json-wire.ts` and `binary-wire.ts` are the two forms; the session holds one of them for its life.

import type { EngineFrame, InvocationResult, InvokeFunction, TriggerOrigin } from '../../protocol/frames/frames.ts';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import type { HandedCall } from '../calls/open-call.ts';
import type { Outcome } from '../calls/reply.ts';

/** Frames whose speed does not matter. */
export type ControlFrame = Exclude<EngineFrame<RawJson>, InvokeFunction<RawJson> | InvocationResult<RawJson>>;

/** The id under which a caller knows its call, as its wire form writes it. */
export type CallerRef = string | number;

export interface Wire {
  /** Whether `CallOrder.traceparent` may be `UNTRACED`. */
  readonly canSayUntraced: boolean;
  /**
   * To be called before a payload is sent: makes sure that the client will be able to read it. False: no client can,
   * and the caller of this answers with the refusal.
   */
  admit(payload: Payload): boolean;
  sendControl(frame: ControlFrame): void;
  sendCall(call: HandedCall, order: CallOrder): void;
  sendResult(ref: CallerRef, functionId: string, outcome: Outcome): void;
}

/** What the executor gets of a call. Payloads may be views of a message: they are copied, or used before it is gone. */
export interface CallOrder {
  readonly functionId: string;
  readonly data: Payload | undefined;
  readonly metadata: Payload | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  /** The depth of the call itself in its chain: one more than its caller's. */
  readonly depth: number;
  readonly timeoutMs: number;
  /** The trigger that caused the call, if any. */
  readonly trigger: TriggerOrigin | undefined;
}
