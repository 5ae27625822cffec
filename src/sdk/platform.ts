// What the SDK needs of the place it runs in. Everything else in this folder is plain ECMAScript; Node is known
// only to `platform-node.ts`, and the browser SDK brings a file of its own.

import type { TextMemory } from '../protocol/text-bytes.ts';
import type { TextSource } from '../protocol/text-slices.ts';
import type { TraceCarrier } from './outgoing-calls.ts';

export interface Platform {
  readonly clock: PlatformClock;
  /** Uniform in [0, 1). Spreads reconnects; never used for secrets. */
  readonly random: () => number;
  /** A random UUID: trigger ids must be unguessable and unique over all workers. */
  readonly uuid: () => string;
  /**
   * Dials and returns at once. Events come later, never from inside this call. `onClose` comes exactly once
   * and is the last event, also when the dial itself failed.
   */
  openSocket(request: SocketRequest, events: SocketEvents): PlatformSocket;
  /** Whether `SocketRequest.headers` are sent: a browser sends none of ours. */
  readonly setsHeaders: boolean;
  readonly memory: ByteMemory;
  /** A value that follows `await` from a handler into the calls it makes. */
  createContextStorage(): ContextStorage<TraceCarrier>;
  /** SIGTERM and SIGINT. Absent where there are no signals. */
  readonly signals: TerminationSignals | undefined;
  /** One line for the person who runs the process. Must not throw. */
  writeLog(level: LogLevel, message: string): void;
  /** What a worker says of the place it runs in when it announces itself. */
  describeHost(): HostFacts;
  /** The form of the wire that the environment asks for (SVC_WIRE), unchecked. */
  requestedWire(): string | undefined;
}

export interface PlatformClock {
  /** Milliseconds that only rise, from an arbitrary zero: for every deadline and duration. */
  monotonicMs(): number;
  /** Unix milliseconds: only for moments that are shown to a handler. */
  wallMs(): number;
  /**
   * Runs `task` once; the returned function cancels it. A timer keeps the process alive only where its owner
   * says so: what waits to dial again must not end, everything else must not hold up the end. A dial need not be run
   * before there is a network, and may be run as soon as there is one again.
   */
  after(delayMs: number, task: () => void, kind?: 'dial'): () => void;
  /** Runs `task` when all input that has arrived by now has been handled: frames of one turn leave together. */
  afterTurn(task: () => void): void;
}

/** What every form of the wire needs. */
export type ByteMemory = Pick<TextMemory, 'allocate' | 'byteLength'>;

/** Text in memory, the fastest way the place has: for the binary form. */
export interface PlatformMemory extends TextMemory, TextSource {
  /** A value was read that may hold a reference to a channel, from bytes in which no such text stands. */
  noteReference(): void;
}

export interface SocketRequest {
  readonly purpose: 'worker' | 'channel' | 'stream';
  readonly url: string;
  /** The forms of the wire on offer; the peer selects one. */
  readonly subprotocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Longest message the peer may send. */
  readonly messageBytesMax: number;
}

export interface SocketEvents {
  /** A text, or a binary message: bytes that are valid only during the call. */
  onMessage(message: string | Uint8Array): void;
  /** A sign of life below the message layer, such as a ping or a pong. */
  onAlive(): void;
  onClose(closure: SocketClosure): void;
}

/** Room for the longest header of a WebSocket frame. */
export const HEADROOM_BYTES = 14;

export interface SocketClosure {
  /** WebSocket close code; 1006 when there was none. */
  readonly code: number;
  readonly reason: string;
  /** Set when the peer refused the upgrade with an HTTP answer. */
  readonly httpStatus?: number;
}

export interface PlatformSocket {
  /** What the peer selected of the subprotocols on offer; settled before the first message. */
  readonly subprotocol: string;
  /** Sends each text as one message, all of them in one write. Does nothing once the socket is closing. */
  sendTexts(texts: readonly string[]): void;
  /**
   * Sends the bytes from `start` to before `end` as one message; in front of it are HEADROOM_BYTES that the socket
   * may use. False: the bytes are still needed, and the caller must leave this memory alone from now on.
   */
  sendBytes(memory: Uint8Array, start: number, end: number): boolean;
  /** Asks the peer for a sign of life, which arrives as `onAlive` or as a message. */
  ping(): void;
  close(code: number, reason: string): void;
  /** Drops the connection without a word; `onClose` still follows. */
  terminate(): void;
  /** Bytes accepted by `send` that have not reached the operating system. */
  bufferedBytes(): number;
}

export interface ContextStorage<T> {
  /** Calls `run(first, second)` with `value` as the current one, also behind every `await` inside. */
  run<First, Second, Result>(
    value: T,
    run: (first: First, second: Second) => Result,
    first: First,
    second: Second,
  ): Result;
  current(): T | undefined;
}

export interface TerminationSignals {
  /** Calls `listener` for SIGTERM and SIGINT until the returned function is called. */
  listen(listener: (signal: TerminationSignal) => void): () => void;
  /** Does what the signal would have done without our listener, unless someone else listens to it too. */
  raise(signal: TerminationSignal): void;
}

export type TerminationSignal = 'SIGTERM' | 'SIGINT';
export type LogLevel = 'info' | 'warn' | 'error';

export interface HostFacts {
  readonly runtime: string;
  /** The name of a worker that was given none. */
  readonly name: string;
  readonly os?: string;
  readonly pid?: number;
  readonly isolation?: string;
}
