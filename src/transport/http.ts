// What the engine knows of one HTTP request and its answer, whichever library carries them.

import type { ByteString } from '../protocol/byte-string.ts';
import type { SocketOptions } from './socket.ts';

/**
 * Names in lower case and values in turn, in the order they came, repeated ones included. Of an answer they leave as
 * UTF-8.
 */
export type HeaderLines = readonly string[];

/** The bytes of a body, as they are or as a byte string. */
export type HttpBody = ByteString | Uint8Array;

/** Takes the body of a request. Chunks are valid only during the call. */
export interface BodyReader {
  chunk(bytes: Uint8Array): void;
  /** That was all of it. */
  ended(): void;
}

/**
 * One request, already found to be whole and unambiguous (X14), and the one answer to it. Members may be called after
 * the peer is gone: they then do nothing.
 */
export interface HttpExchange {
  readonly method: string;
  /** Without the query, as it came. */
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderLines;
  readonly remoteAddress: string;
  /** How many bytes of body follow; 0: none, `undefined`: nobody knows before the end. */
  readonly bodyBytes: number | undefined;
  /** The answer is not complete, and the peer is there. */
  readonly isOpen: boolean;
  /** Bytes of the answer that the operating system has not taken yet. */
  readonly bufferedBytes: number;
  /** To be called while the request is told, or the body is thrown away. */
  readBody(reader: BodyReader): void;
  /** Stops taking bytes from the peer, which then has to wait, and goes on. A few MiB may still come. */
  pauseBody(): void;
  /** To be said every few seconds meanwhile: one library takes a body that stands still for a peer that does. */
  stayPaused(): void;
  resumeBody(): void;
  /** The whole answer. Without `body` there is none, nor a length of it. HEAD gets the length and nothing else. */
  answer(status: number, headers: HeaderLines, body: HttpBody | undefined): void;
  /**
   * An answer in pieces: its head, then any number of `write`, then `end`. What is written behind a head that has no
   * body, by its status or for HEAD, goes nowhere: its reader would take it for the next answer.
   */
  begin(status: number, headers: HeaderLines): void;
  write(bytes: Uint8Array): void;
  end(): void;
  /** Breaks off: the peer sees that something is missing. */
  abort(): void;
  /** The peer left before the answer was complete; told once. */
  whenGone(listener: () => void): void;
}

export interface HttpListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly connectionsMax: number;
  /** A request has come, its body perhaps not yet. */
  request(exchange: HttpExchange): void;
  /** Whether connections have to make room: then each ends with its answer. */
  closesAfterAnswer(): boolean;
  /** One was answered by the transport itself, with that status. */
  refused(status: number): void;
  /** A path that speaks WebSocket. Requests for it that ask for no upgrade come to `request`. */
  readonly sockets?: SocketOptions & { readonly path: string };
}

/** Statuses whose answers have no body by definition. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}
