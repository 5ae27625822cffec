// How a session speaks: the messages the router sends, put into the form that the peer asked for.
//
// Neighbours: `json-wire.ts` and `binary-wire.ts` are the two forms; the session holds one of them for its life.

import type { RawJson } from '../protocol/byte-string.ts';
import type { EngineFrame, InvocationResult, InvokeFunction, TriggerOrigin } from '../protocol/frames.ts';
import type { Payload } from '../protocol/payload.ts';
import type { HandedCall } from './open-call.ts';
import type { Outcome } from './reply.ts';

/** Frames whose speed does not matter. */
export type ControlFrame = Exclude<EngineFrame<RawJson>, InvokeFunction<RawJson> | InvocationResult<RawJson>>;

/** The id under which a caller knows its call, as its form of the wire writes it. */
export type CallerRef = string | number;

export interface Wire {
  /** Whether `CallOrder.traceparent` may be `UNTRACED`. */
  readonly canSayUntraced: boolean;
  /**
   * To be asked before a payload is sent: makes sure that the peer will be able to read it. False: nobody can, and
   * whoever hands it on answers for the refusal.
   */
  admit(payload: Payload): boolean;
  sendControl(frame: ControlFrame): void;
  sendCall(call: HandedCall, order: CallOrder): void;
  sendResult(ref: CallerRef, functionId: string, outcome: Outcome): void;
}

/** What the executor is told of a call. Payloads may be views of a message: copied, or used before it is gone. */
export interface CallOrder {
  readonly functionId: string;
  readonly data: Payload | undefined;
  readonly metadata: Payload | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  /** How deep in the chain the call itself stands: one more than its caller. */
  readonly depth: number;
  readonly timeoutMs: number;
  /** What caused the call, if it was a trigger. */
  readonly trigger: TriggerOrigin | undefined;
}
