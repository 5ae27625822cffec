// One connection to the engine, from the moment the engine names it until it is gone. Senders hold the link they mean,
// so that nothing meant for one connection can leave on the next (W4): a link that is down sends nothing.
//
// Neighbours: the wire knows the form of the messages, this file decides when they leave: those of one turn together, a
// long batch in parts.

import type { ErrorBody } from '../../protocol/frames/frames.ts';
import {
  answerBytesMax,
  callBytesMax,
  type DeliveredCall,
  type EncodedCall,
  type EncodedPayload,
  type EncodedResult,
  encodeError,
  type Wire,
} from '../wire/wire.ts';
import { HEADROOM_BYTES, type PlatformClock, type PlatformSocket } from '../worker/platform.ts';

export interface LinkOptions {
  /** The id the engine gave this connection. */
  readonly workerId: string;
  readonly socket: PlatformSocket;
  readonly wire: Wire;
  readonly clock: PlatformClock;
  readonly frameBytesMax: number;
  /** As the engine reported it; an older engine reports none, and refuses what is over its limit. */
  readonly callsMax?: number | undefined;
}

export class Link {
  readonly workerId: string;
  /** How many unanswered calls the engine allows this connection. */
  readonly callsMax: number;
  /** The arrival time of the message being handled, on the platform's clock. */
  receivedMs: number;
  readonly #socket: PlatformSocket;
  readonly #wire: Wire;
  readonly #clock: PlatformClock;
  readonly #frameBytesMax: number;
  /** Roughly, of what waits in the wire. */
  #queuedBytes = 0;
  #isScheduled = false;
  #isUp = true;
  /** Whether the buffer was over its limit at the last look. */
  #isCongested = false;

  constructor({ workerId, socket, wire, clock, frameBytesMax, callsMax }: LinkOptions) {
    this.workerId = workerId;
    this.callsMax = callsMax ?? Number.MAX_SAFE_INTEGER;
    this.receivedMs = clock.monotonicMs();
    this.#socket = socket;
    this.#wire = wire;
    this.#clock = clock;
    this.#frameBytesMax = frameBytesMax;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The form of the wire that the engine selected; empty for the form of `iii`. */
  get form(): string {
    return this.#socket.subprotocol;
  }

  /** A payload, sent on this link before anything else is encoded; see `Wire`. */
  encode(value: unknown): EncodedPayload | undefined {
    return this.#wire.encode(value);
  }

  /** The same for the result of a call. */
  encodeResult(call: DeliveredCall, value: unknown): EncodedResult | undefined {
    return this.#wire.encodeResult(call, value);
  }

  sendCall(call: EncodedCall): void {
    if (this.#isUp) this.#queued(this.#wire.addCall(call));
  }

  sendResult(call: DeliveredCall, result: EncodedResult | undefined): void {
    if (this.#isUp) this.#queued(this.#wire.addResult(call, result));
  }

  sendError(call: DeliveredCall, error: ErrorBody): void {
    if (!this.#isUp) return;
    const encoded = encodeError(error);
    const bytes = this.overlongAnswerBytes(call, encoded);
    if (bytes === undefined) this.#queued(this.#wire.addError(call, encoded));
    else this.sendError(call, tooLarge('error', error.code, bytes, this.#frameBytesMax));
  }

  /** Sends a text of `encodeFrame`. */
  sendFrame(text: string): void {
    if (this.#isUp) this.#queued(this.#wire.addFrame(text));
  }

  /** Sends a frame of telemetry after HEADROOM_BYTES that the socket may use; the memory then belongs to the socket. */
  sendTelemetry(memory: Uint8Array): void {
    if (!this.#isUp) return;
    this.flush();
    this.#socket.sendBytes(memory, HEADROOM_BYTES, memory.length);
  }

  /** The length of the call, if it exceeds what the engine accepts. */
  overlongCallBytes(call: EncodedCall): number | undefined {
    if (callBytesMax(call) <= this.#frameBytesMax) return undefined;
    const bytes = this.#wire.callBytes(call);
    return bytes > this.#frameBytesMax ? bytes : undefined;
  }

  /** The length of the answer, if it exceeds what the engine accepts: sending it would end the connection. */
  overlongAnswerBytes(call: DeliveredCall, answer: EncodedResult): number | undefined {
    if (answerBytesMax(call, answer) <= this.#frameBytesMax) return undefined;
    const bytes = this.#wire.answerBytes(call, answer);
    return bytes > this.#frameBytesMax ? bytes : undefined;
  }

  /** Sends everything that has gathered, now. */
  flush(): void {
    if (this.#queuedBytes === 0) return;
    this.#queuedBytes = 0;
    this.#wire.flush();
    this.#isCongested = this.#socket.bufferedBytes() > BUFFERED_BYTES_MAX;
  }

  /** Whether calls are held because the engine reads too slowly. Results are always sent. */
  isCongested(): boolean {
    if (this.#isCongested) this.#isCongested = this.#socket.bufferedBytes() > BUFFERED_BYTES_MAX;
    return this.#isCongested;
  }

  /** The connection is gone; the unsent messages are dropped. */
  drop(): void {
    this.#isUp = false;
    this.#queuedBytes = 0;
    this.#wire.discard();
  }

  #queued(bytes: number): void {
    this.#queuedBytes += Math.max(bytes, MESSAGE_BYTES_MIN);
    if (this.#queuedBytes >= FLUSH_BYTES) {
      this.flush();
    } else if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#clock.afterTurn(this.#endTurn);
    }
  }

  readonly #endTurn = (): void => {
    this.#isScheduled = false;
    this.flush();
  };
}

/** Why an answer could not be sent unchanged. */
export function tooLarge(what: string, of: string, bytes: number, bytesMax: number): ErrorBody {
  const text = `the ${what} of ${of.slice(0, 256)} takes ${bytes} bytes, frame_bytes_max is ${bytesMax}`;
  return { code: 'PAYLOAD_TOO_LARGE', message: text };
}

/** Calls are held while more bytes than this wait for the operating system. */
const BUFFERED_BYTES_MAX = 16 * 1024 * 1024;
/**
 * A batch this long gets its own write: the engine starts on it while the rest is still being encoded. Without this,
 * callers that wait for one another's answers work in alternation with the engine and with the worker that answers, and
 * half of two processors is idle. Smaller parts cost more system calls than they gain (bench/RESULTS.md).
 */
const FLUSH_BYTES = 64 * 1024;
/** What a message counts as at least: 32 messages make a batch. */
const MESSAGE_BYTES_MIN = 2 * 1024;
