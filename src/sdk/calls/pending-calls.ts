// The calls of this worker that are not answered yet. `PendingCall` is one of them, from `trigger` to its one answer
// (I1): what is sent, and the promise to settle. Each waits in one of two places: `UnsentCalls` until it can be sent,
// `SentCalls` until its answer arrives.

import type { Link } from '../connection/link.ts';
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
  /** Its depth in its chain of calls, however the wire writes it. */
  chainDepth = 0;
  /** The time that is left, for a call that waited to be sent. */
  timeoutMs: number;
  /** When the caller stops waiting, on the platform's clock; set only while the call is unsent. */
  deadlineMs = 0;
  metadata: Encoded | undefined;
  data: EncodedPayload | undefined;
  /** The connection on which it was sent. */
  link: Link | undefined;
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
    this.#settle()?.(result);
  }

  /**
   * The error's stack names the caller, at no cost for calls that succeed. V8 finds the caller by itself if the error
   * arises in a promise that the caller already awaits. So the call resolves to a promise that fails two turns later,
   * when the caller awaits it.
   */
  fail(makeError: () => SvcError): void {
    this.#settle()?.(
      RESOLVED.then(nothing).then(() => {
        throw makeError();
      }),
    );
  }

  /**
   * Returns what resolves the promise, if a caller awaits it. Only once: an aborted call may still be answered.
   */
  #settle(): ((answer: unknown) => void) | undefined {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    this.#release?.();
    this.#release = undefined;
    return resolve;
  }
}

const RESOLVED = Promise.resolve();
const nothing = (): void => {};

// Captures `resolve` without a closure for each call: the closure would be the largest allocation of a call.
let taken: (answer: unknown) => void = nothing;
const takeResolve = (resolve: (answer: unknown) => void): void => {
  taken = resolve;
};

/**
 * Calls that wait for their answer, found by the number under which they were sent.
 *
 * A ring instead of a Map: numbers are assigned in order and most calls are answered soon, so the low bits of the
 * number select a slot that is nearly always free. Adding, finding and removing are one array access each.
 *
 * - Numbers run from 1 to 2^32 - 1 and then start again from 1, skipping those in use. An answer arrives within an
 *   hour of its call or never, and no worker makes four thousand million calls in an hour, so no answer can meet
 *   another call.
 * - At least half of the slots are free, so the search for a free slot ends soon.
 */
export class SentCalls {
  #slots: (PendingCall | undefined)[] = emptySlots(FIRST_SLOTS);
  #size = 0;
  #lastNumber: number;

  constructor(lastNumber = 0) {
    this.#lastNumber = lastNumber;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds the call and assigns its number. */
  add(call: PendingCall): void {
    if (2 * this.#size >= this.#slots.length) this.#grow();
    const slots = this.#slots;
    let number = this.#lastNumber;
    do {
      number = number === NUMBER_MAX ? 1 : number + 1;
    } while (slots[number & (slots.length - 1)] !== undefined);
    this.#lastNumber = number;
    call.number = number;
    slots[number & (slots.length - 1)] = call;
    this.#size++;
  }

  find(number: number): PendingCall | undefined {
    const call = this.#slots[number & (this.#slots.length - 1)];
    return call?.number === number ? call : undefined;
  }

  /** Returns whether the call was there. */
  remove(call: PendingCall): boolean {
    const slot = call.number & (this.#slots.length - 1);
    if (this.#slots[slot] !== call) return false;
    this.#slots[slot] = undefined;
    this.#size--;
    return true;
  }

  /** Those that were sent on that connection. */
  on(link: Link | undefined): PendingCall[] {
    return this.#all().filter((call) => call.link === link);
  }

  #all(): PendingCall[] {
    return this.#slots.filter((call) => call !== undefined);
  }

  /** Numbers that differ in their low bits also differ with one bit more: no two calls collide in the larger ring. */
  #grow(): void {
    const slots = emptySlots(2 * this.#slots.length);
    for (const call of this.#all()) slots[call.number & (slots.length - 1)] = call;
    this.#slots = slots;
  }
}

const NUMBER_MAX = 2 ** 32 - 1;
/** A power of two, and so is each doubling: the low bits of a number are then its slot. */
const FIRST_SLOTS = 64;

function emptySlots(count: number): (PendingCall | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
