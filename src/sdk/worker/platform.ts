// The interface between the SDK and its platform. Everything else in this folder is plain ECMAScript; only
// `node/` uses Node, and the browser SDK has a file of its own.

import type { TextMemory, TextSource } from '../../protocol/json/text-memory.ts';
import type { TraceCarrier } from '../calls/trace-context.ts';

export interface Platform {
  readonly clock: PlatformClock;
  /** Uniform in [0, 1). Spreads reconnects; never used for secrets. */
  readonly random: () => number;
  /** A random UUID: trigger ids must be unguessable and unique over all workers. */
  readonly uuid: () => string;
  /**
   * Dials and returns at once. Events come later, never from inside this call. `onClose` is called exactly once and is
   * the last event, also when the dial itself failed.
   */
  openSocket(request: SocketRequest, events: SocketEvents): PlatformSocket;
  /** Whether `SocketRequest.headers` are sent: a browser does not send them. */
  readonly setsHeaders: boolean;
  readonly memory: ByteMemory;
  /** A value that stays current after `await` in a handler, for the calls it makes. */
  createContextStorage(): ContextStorage<TraceCarrier>;
  /** SIGTERM and SIGINT. Absent if the platform has no signals. */
  readonly signals: TerminationSignals | undefined;
  /** One line for the person who runs the process. Must not throw. */
  writeLog(level: LogLevel, message: string): void;
  /** Facts about the platform that a worker announces. */
  describeHost(): HostDescription;
  /** The form of the wire from the environment (SVC_WIRE), unchecked. */
  requestedWire(): string | undefined;
  /** The address to try after this one. Absent where a worker has one address. */
  nextUrl?(url: string): string;
}

export interface PlatformClock {
  /** Milliseconds that never decrease, from an arbitrary zero: for every deadline and duration. */
  monotonicMs(): number;
  /** Unix milliseconds: only for times that a handler reads. */
  wallMs(): number;
  /**
   * Runs `task` once; the returned function cancels it. Only a timer of kind `dial` keeps the process alive: a worker
   * that waits to dial again must not end, and no other timer may delay the end. A dial may be put off while there is
   * no network, and may run as soon as there is one again.
   */
  after(delayMs: number, task: () => void, kind?: 'dial'): () => void;
  /** Runs `task` when all input that has arrived so far has been handled: frames of one turn leave together. */
  afterTurn(task: () => void): void;
}

/** The memory that every form of the wire needs. */
export type ByteMemory = Pick<TextMemory, 'allocate' | 'byteLength'>;

/** Text in memory, in the fastest way the platform has: for the binary form. */
export interface PlatformMemory extends TextMemory, TextSource {
  /** Reports a value that may hold a channel reference although its bytes do not contain the text of one. */
  noteReference(): void;
}

export interface SocketRequest {
  readonly purpose: 'worker' | 'channel' | 'stream';
  readonly url: string;
  /** The forms of the wire on offer; the server selects one. */
  readonly subprotocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The longest message that the server may send. */
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
  /** WebSocket close code; 1006 if there was none. */
  readonly code: number;
  readonly reason: string;
  /** Set if the server refused the upgrade with an HTTP answer. */
  readonly httpStatus?: number;
}

export interface PlatformSocket {
  /** The subprotocol that the server selected; known before the first message. */
  readonly subprotocol: string;
  /** Sends each text as one message, all of them in one write. Does nothing once the socket is closing. */
  sendTexts(texts: readonly string[]): void;
  /**
   * Sends the bytes from `start` to before `end` as one message; in front of it are HEADROOM_BYTES that the socket may
   * use. False: the socket still needs the bytes, and the caller must not touch this memory again.
   */
  sendBytes(memory: Uint8Array, start: number, end: number): boolean;
  /** Asks the server for a sign of life, which arrives as `onAlive` or as a message. */
  ping(): void;
  close(code: number, reason: string): void;
  /** Drops the connection without a close frame; `onClose` still follows. */
  terminate(): void;
  /** Bytes accepted by `send` that have not reached the operating system. */
  bufferedBytes(): number;
}

export interface ContextStorage<T> {
  /** Calls `run(first, second)` with `value` as the current one, also after every `await` inside. */
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
  /** Does what the signal would do without our listener, unless other code listens to it too. */
  raise(signal: TerminationSignal): void;
}

export type TerminationSignal = 'SIGTERM' | 'SIGINT';
export type LogLevel = 'info' | 'warn' | 'error';

export interface HostDescription {
  readonly runtime: string;
  /** The name of a worker that was given none. */
  readonly name: string;
  readonly os?: string;
  readonly pid?: number;
  readonly isolation?: string;
}
