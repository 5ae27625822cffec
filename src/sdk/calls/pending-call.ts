// One call of this worker, from `trigger` to its one answer (I1): what is sent, and the promise to settle.

import type { Encoded, EncodedCall, EncodedPayload } from '../wire/wire.ts';
import { Deadline } from './deadline-wheel.ts';
import type { SvcError } from './errors.ts';

/** Acts when the time of a call is over. */
export interface CallOwner {
  expired(call: PendingCall): void;
}

/** A new call: all of it but the number under which it is sent. */
export interface NewCall {
  readonly functionId: string;
  readonly timeoutMs: number;
  /** No caller waits for a Void call: it has no number and gets no answer. */
  readonly isVoid: boolean;
  readonly action: Encoded | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  readonly depth: number | undefined;
  readonly metadata: Encoded | undefined;
  readonly data: EncodedPayload | undefined;
}

export class PendingCall extends Deadline implements EncodedCall {
  /** Assigned by the table of sent calls. */
  number = 0;
  readonly functionId: string;
  readonly isVoid: boolean;
  readonly action: Encoded | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  readonly depth: number | undefined;
  /** The time that is left, for a call that waited for a connection. */
  timeoutMs: number;
  /** When the caller stops waiting, on the platform's clock; set only while the call waits for a connection. */
  deadlineMs = 0;
  metadata: Encoded | undefined;
  data: EncodedPayload | undefined;
  readonly #owner: CallOwner;
  #resolve: ((answer: unknown) => void) | undefined;
  /** Removes what the call installed elsewhere, such as a listener on its signal. */
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

  /** The promise that the caller awaits. */
  wait(): Promise<unknown> {
    const promise = new Promise(takeResolve);
    this.#resolve = taken;
    return promise;
  }

  override expire(): void {
    this.#owner.expired(this);
  }

  /** Runs when the call is settled, for any reason. */
  onceSettled(release: () => void): void {
    this.#release = release;
  }

  succeed(result: unknown): void {
    this.#release?.();
    this.#resolve?.(result);
  }

  /**
   * The error's stack names the caller, at no cost for calls that succeed. V8 finds the caller by itself if the error
   * arises in a promise that the caller already awaits. So the call resolves to a promise that fails two turns later,
   * when the caller awaits it.
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

// Captures `resolve` without a closure for each call: the closure would be the largest allocation of a call.
let taken: (answer: unknown) => void = nothing;
const takeResolve = (resolve: (answer: unknown) => void): void => {
  taken = resolve;
};
