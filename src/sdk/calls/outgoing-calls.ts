// Calls that this worker makes: sent on the current connection, or held until they can be.
//
// Neighbours: `worker.ts` passes in calls and reports changes of the connection, `link.ts` sends,
// `deadline-wheel.ts` keeps the time.
//
// - A call is in one place: unsent (in `#unsent`) or sent (in `#sent`). A sent call stays there until the engine has
//   answered it, even if its signal was aborted: the engine counts it until then.
// - It is settled once: by its answer, its deadline, the loss of the connection it was sent on, or its signal.
// - A sent call is never sent again, here or on another connection: its effect is unknown (I2).
// - The engine enforces the deadline. The deadline here runs GRACE_MS later and catches only calls that the engine
//   left unanswered. No engine knows an unsent call, so for that call the deadline here is the one that counts.

import type { InvokeAction } from '../../protocol/frames/frames.ts';
import type { Link } from '../connection/link.ts';
import { jsonCallBytes } from '../wire/json-wire.ts';
import { type Encoded, type EncodedPayload, encodeValue } from '../wire/wire.ts';
import { OncePerMinute } from '../worker/once-per-minute.ts';
import type { Settings } from '../worker/options.ts';
import type { PlatformClock } from '../worker/platform.ts';
import type { Deadlines } from './deadline-wheel.ts';
import { SvcError } from './errors.ts';
import { type CallOwner, PendingCall, SentCalls } from './pending-calls.ts';
import { errorFromAnswer } from './remote-error.ts';
import { chainDepth, type TraceCarrier } from './trace-context.ts';
import { placesAt, UnsentCalls } from './unsent-calls.ts';

/** A call as the caller asks for it, checked. */
export interface CallSpec {
  readonly functionId: string;
  readonly payload: unknown;
  readonly metadata: unknown;
  readonly action: InvokeAction | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export class OutgoingCalls implements CallOwner {
  readonly #clock: PlatformClock;
  readonly #wheel: Deadlines;
  readonly #settings: Settings;
  readonly #sent = new SentCalls();
  readonly #unsent: UnsentCalls;
  readonly #droppedVoids: OncePerMinute;
  #link: Link | undefined;
  #willRetry = false;
  /** Sent since the last turn of the event loop. */
  #burst = 0;
  /** Why no further call can be made. */
  #end: SvcError | undefined;

  constructor(clock: PlatformClock, wheel: Deadlines, settings: Settings) {
    this.#clock = clock;
    this.#wheel = wheel;
    this.#settings = settings;
    this.#unsent = new UnsentCalls(settings.unsentBytesMax);
    this.#droppedVoids = new OncePerMinute(clock);
  }

  /** Makes the call. An invalid call rejects at once, with the caller's own stack. */
  begin(spec: CallSpec, parent: TraceCarrier | undefined): Promise<unknown> {
    const depth = chainDepth(parent);
    const link = this.#linkFor(depth, spec.action?.type === 'void');
    let call: PendingCall;
    try {
      call = this.#encode(spec, parent, link);
      call.chainDepth = depth;
      if (link === undefined) this.#hold(call);
      else checkLength(call, link, this.#settings);
    } catch (error) {
      return Promise.reject(error);
    }
    const answered = call.isVoid ? Promise.resolve(undefined) : call.wait();
    if (link !== undefined) this.#send(call, link);
    if (spec.signal !== undefined && !(call.isVoid && link !== undefined)) this.#watch(spec.signal, call);
    return answered;
  }

  /** Handles an answer of the engine. An answer without a call is late: the caller already got TIMEOUT or CANCELLED. */
  succeed(number: number, result: unknown): void {
    const call = this.#sent.find(number);
    if (call === undefined) return;
    this.#leave(call);
    call.succeed(result);
  }

  fail(number: number, error: unknown, traceparent: string | undefined): void {
    const call = this.#sent.find(number);
    if (call === undefined) return;
    this.#leave(call);
    // If the engine does not report the trace, the error names the trace that the call was made in.
    call.fail(() => errorFromAnswer(error, call.functionId, traceparent ?? call.traceparent));
  }

  /** The connection is up and every registration is on it: the unsent calls leave. */
  connectionUp(link: Link): void {
    this.#link = link;
    this.#sendUnsent();
  }

  connectionLost(link: Link): void {
    if (this.#link === link) this.#link = undefined;
    for (const call of this.#sent.on(link)) {
      this.#leave(call);
      const text = 'the connection was lost; whether the call took effect is unknown';
      call.fail(() => refusal('invocation_stopped', call.functionId, text));
    }
  }

  /** There will be no further connection: every unsent call fails, and so does every later call. */
  end(reason: SvcError): void {
    this.#end = reason;
    for (let call = this.#unsent.take(0, 1); call !== undefined; call = this.#unsent.take(0, 1)) {
      const { functionId } = call;
      this.#wheel.remove(call);
      call.fail(() => refusal(reason.code, functionId, reason.message));
    }
  }

  /** Called by the deadline wheel. */
  expired(call: PendingCall): void {
    if (this.#leaveUnsent(call)) return this.#failUnsent(call);
    call.fail(() => timeout(call, 'the engine did not answer'));
    this.#leave(call);
  }

  /** The connection, if a call of that depth can leave on it now. */
  #linkFor(depth: number, isVoid: boolean): Link | undefined {
    const link = this.#link;
    if (link === undefined || this.#mustPause(link) || this.#unsent.hasLine(depth)) return undefined;
    // No answer is due for a Void call, so it takes no place.
    return isVoid || this.#sent.size < placesAt(depth, link.callsMax) ? link : undefined;
  }

  #encode(spec: CallSpec, parent: TraceCarrier | undefined, link: Link | undefined): PendingCall {
    const { functionId, action, timeoutMs, signal, metadata, payload } = spec;
    if (this.#end !== undefined) throw refusal(this.#end.code, functionId, this.#end.message);
    if (signal?.aborted === true) throw cancellation(functionId, signal);
    const isVoid = action?.type === 'void';
    return new PendingCall(
      {
        functionId,
        timeoutMs,
        isVoid,
        action: action === undefined || isVoid ? undefined : encodeField(functionId, 'action', action),
        traceparent: parent?.traceparent,
        baggage: parent?.baggage,
        // A call outside of a handler begins a chain of calls.
        depth: parent === undefined ? 0 : parent.depth,
        metadata: metadata === undefined ? undefined : encodeField(functionId, 'metadata', metadata),
        data: payload === undefined ? undefined : encodePayload(functionId, payload, link),
      },
      this,
    );
  }

  #send(call: PendingCall, link: Link): void {
    if (call.isVoid) {
      call.succeed(undefined);
    } else {
      call.link = link;
      this.#sent.add(call);
      this.#wheel.addLoosely(call, call.timeoutMs + GRACE_MS);
    }
    link.sendCall(call);
    if (this.#burst++ > 0) return;
    this.#clock.afterTurn(() => {
      this.#burst = 0;
      this.#sendUnsent();
    });
  }

  #mustPause(link: Link): boolean {
    return this.#burst >= BURST_MAX || link.isCongested();
  }

  /** Keeps a call that cannot be sent yet, or throws. */
  #hold(call: PendingCall): void {
    const { functionId, timeoutMs } = call;
    const bytes = jsonCallBytes(call);
    if (bytes > this.#settings.frameBytesMax) throw overlong(functionId, bytes, this.#settings);
    if (!this.#unsent.add(call, bytes)) {
      const full = `the calls that wait fill unsent_bytes_max, ${this.#settings.unsentBytesMax}`;
      throw refusal('OVERLOADED', functionId, `${this.#whyUnsent()}, and ${full}`);
    }
    call.deadlineMs = this.#clock.monotonicMs() + timeoutMs;
    this.#wheel.add(call, timeoutMs);
    if (this.#link?.isCongested() === true) this.#retryLater();
  }

  /** Sends what can be sent now. */
  #sendUnsent(): void {
    const link = this.#link;
    if (this.#unsent.size === 0 || link === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    while (!this.#mustPause(link)) {
      const call = this.#unsent.take(this.#sent.size, link.callsMax);
      if (call === undefined) return;
      this.#wheel.remove(call);
      const remainingMs = Math.ceil(call.deadlineMs - nowMs);
      if (remainingMs <= 0) {
        this.#failUnsent(call);
      } else {
        call.timeoutMs = remainingMs;
        this.#send(call, link);
      }
    }
    this.#retryLater();
  }

  /** No platform reports when a full buffer has room again. */
  #retryLater(): void {
    if (this.#willRetry) return;
    this.#willRetry = true;
    this.#clock.after(RETRY_MS, () => {
      this.#willRetry = false;
      this.#sendUnsent();
    });
  }

  #watch(signal: AbortSignal, call: PendingCall): void {
    const onAbort = (): void => {
      this.#leaveUnsent(call);
      call.fail(() => cancellation(call.functionId, signal));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    call.onceSettled(() => signal.removeEventListener('abort', onAbort));
  }

  /** The call is answered. */
  #leave(call: PendingCall): void {
    this.#sent.remove(call);
    this.#wheel.remove(call);
    this.#sendUnsent();
  }

  #leaveUnsent(call: PendingCall): boolean {
    if (!this.#unsent.remove(call)) return false;
    this.#wheel.remove(call);
    return true;
  }

  #failUnsent(call: PendingCall): void {
    const why = this.#whyUnsent();
    if (call.isVoid) {
      this.#droppedVoids.write((more) => {
        const count = more > 0 ? `${more + 1} Void calls, the last` : 'a Void call';
        this.#settings.log('warn', `dropped ${count} to ${call.functionId}: ${why}`);
      });
    }
    call.fail(() => timeout(call, why));
  }

  #whyUnsent(): string {
    const link = this.#link;
    if (link === undefined) return 'there is no connection to the engine';
    if (link.isCongested()) return 'the engine reads too slowly';
    return `too many calls are unanswered, the engine's in_flight_per_caller is ${link.callsMax}`;
  }
}

/** The engine answers within 1 s of the deadline under full load (I3); an answer is late only after that. */
const GRACE_MS = 1_500;
/** Calls that are sent in one turn: the engine reads them in one, and others wait meanwhile. */
const BURST_MAX = 1_024;
/** How often it is tried whether the engine has read enough. */
const RETRY_MS = 10;

/** Data to be stored stays JSON, so that the engine stores it unchanged. It would have to convert any other form. */
const IS_STORED = /^(?:state|stream)::/;

/** An unsent call is held as text, which every form of the wire accepts. */
function encodePayload(functionId: string, payload: unknown, link: Link | undefined): EncodedPayload | undefined {
  try {
    return link === undefined || IS_STORED.test(functionId) ? encodeValue(payload) : link.encode(payload);
  } catch (cause) {
    throw unsendable(functionId, 'payload', cause);
  }
}

function encodeField(functionId: string, field: string, value: unknown): Encoded | undefined {
  try {
    return encodeValue(value);
  } catch (cause) {
    throw unsendable(functionId, field, cause);
  }
}

function unsendable(functionId: string, field: string, cause: unknown): SvcError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return refusal('BAD_REQUEST', functionId, `the ${field} cannot be sent as JSON: ${why}`, cause);
}

function checkLength(call: PendingCall, link: Link, settings: Settings): void {
  const bytes = link.overlongCallBytes(call);
  if (bytes !== undefined) throw overlong(call.functionId, bytes, settings);
}

function overlong(functionId: string, bytes: number, { frameBytesMax }: Settings): SvcError {
  return refusal('PAYLOAD_TOO_LARGE', functionId, `the call takes ${bytes} bytes, frame_bytes_max is ${frameBytesMax}`);
}

function refusal(code: string, function_id: string, problem: string, cause?: unknown): SvcError {
  return new SvcError(code, `${function_id}: ${problem}`, { function_id, cause });
}

function timeout({ timeoutMs, functionId }: PendingCall, why: string): SvcError {
  const message = `invocation timed out after ${timeoutMs}ms (${functionId}: ${why})`;
  return new SvcError('TIMEOUT', message, { function_id: functionId });
}

function cancellation(functionId: string, signal: AbortSignal): SvcError {
  return refusal('CANCELLED', functionId, 'the signal of the call was aborted', signal.reason);
}
