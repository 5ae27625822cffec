// One HTTP request and its answer as the engine sees them, independent of the library.

import type { ByteString } from '../protocol/json/byte-string.ts';

/**
 * Names in lower case and values in turn, in the order received, including repeated ones. The headers of an answer are
 * sent as UTF-8.
 */
export type HeaderLines = readonly string[];

/** The bytes of a body, as a buffer or as a byte string. */
export type HttpBody = ByteString | Uint8Array;

/** Takes the body of a request. Chunks are valid only during the call. */
export interface BodyReader {
  chunk(bytes: Uint8Array): void;
  /** The body is complete. */
  ended(): void;
}

/**
 * One request, already found to be complete and unambiguous (X14), and its one answer. Members may be called after the
 * client is gone: they then do nothing.
 */
export interface HttpExchange {
  readonly method: string;
  /** Without the query, as received. */
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderLines;
  readonly remoteAddress: string;
  /** The length of the body; 0: none, `undefined`: unknown until the end. */
  readonly bodyBytes: number | undefined;
  /** The answer is not complete, and the client is connected. */
  readonly isOpen: boolean;
  /** Bytes of the answer that the operating system has not taken yet. */
  readonly bufferedBytes: number;
  /** To be called from the `request` callback; otherwise the body is discarded. */
  readBody(reader: BodyReader): void;
  /** Pauses reading from the client, and resumes. A few MiB may still arrive after a pause. */
  pauseBody(): void;
  /**
   * Call it every few seconds during a pause: one library cannot distinguish a paused body from a client that stopped
   * sending.
   */
  stayPaused(): void;
  resumeBody(): void;
  /** The whole answer. Without `body` it has no body and no length. HEAD gets only the length. */
  answer(status: number, headers: HeaderLines, body: HttpBody | undefined): void;
  /**
   * An answer in pieces: its head, then any number of `write`, then `end`. For a status without a body, or for HEAD,
   * the written bytes are discarded: the client would read them as the next answer.
   */
  begin(status: number, headers: HeaderLines): void;
  write(bytes: Uint8Array): void;
  end(): void;
  /** Aborts the answer: the client sees that it is incomplete. */
  abort(): void;
  /** The client left before the answer was complete; called once. */
  whenGone(listener: () => void): void;
}

/** Statuses whose answers have no body by definition. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}
