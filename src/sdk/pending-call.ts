// One call of this worker, from `trigger` to its one answer (I1): what is sent, and who waits for what comes back.

import { Deadline } from './deadline-wheel.ts';
import type { SvcError } from './errors.ts';
import type { Encoded, EncodedCall, EncodedPayload } from './wire.ts';

/** Who acts when the call's time is over. */
export interface CallOwner {
  expired(call: PendingCall): void;
}

/** A call as it is made: everything about it but the number it will be sent under. */
export interface NewCall {
  readonly functionId: string;
  readonly timeoutMs: number;
  /** Nobody waits for a Void call: it has no number and gets no answer. */
  readonly isVoid: boolean;
  readonly action: Encoded | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  readonly depth: number | undefined;
  readonly metadata: Encoded | undefined;
  readonly data: EncodedPayload | undefined;
}

export class PendingCall extends Deadline implements EncodedCall {
  /** Given by the table of sent calls. */
  number = 0;
  readonly functionId: string;
  readonly isVoid: boolean;
  readonly action: Encoded | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  readonly depth: number | undefined;
  /** Of a call that waited for a connection: what is left. */
  timeoutMs: number;
  /** When the caller stops waiting, on the platform's clock; known only while the call waits for a connection. */
  deadlineMs = 0;
  metadata: Encoded | undefined;
  data: EncodedPayload | undefined;
  readonly #owner: CallOwner;
  #resolve: ((answer: unknown) => void) | undefined;
  /** Undoes what the call left outside, such as a listener on its signal. */
  #release: (() => void) | undefined;

  constructor(call: NewCall, owner: CallOwner) {
    super();
    this.functionId = call.functionId;
    this.isVoid = call.isVoid;
    this.action = call.action;
    this.traceparent = call.traceparent;
    this.baggage = call.baggage;
    this.depth = call.depth;
    this.timeoutMs = call.timeoutMs;
    this.metadata = call.metadata;
    this.data = call.data;
    this.#owner = owner;
  }

  /** What the caller waits for. */
  wait(): Promise<unknown> {
    const promise = new Promise(takeResolve);
    this.#resolve = taken;
    return promise;
  }

  override expire(): void {
    this.#owner.expired(this);
  }

  /** Runs when the call is settled, however that comes. */
  onceSettled(release: () => void): void {
    this.#release = release;
  }

  succeed(result: unknown): void {
    this.#release?.();
    this.#resolve?.(result);
  }

  /**
   * The error's stack is to name the caller, at no cost for calls that succeed. V8 finds the caller by itself if the
   * error arises in a promise that the caller is already waiting for: so the call resolves to a promise that fails
   * two turns later, when that tie exists.
   */
  fail(makeError: () => SvcError): void {
    this.#release?.();
    this.#resolve?.(
      RESOLVED.then(nothing).then(() => {
        throw makeError();
      }),
    );
  }
}

const RESOLVED = Promise.resolve();
const nothing = (): void => {};

// A function of its own for each call, only to get hold of `resolve`, is what a caller would make most of.
let taken: (answer: unknown) => void = nothing;
const takeResolve = (resolve: (answer: unknown) => void): void => {
  taken = resolve;
};
