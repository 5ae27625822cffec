// One request and its answer on uWebSockets.js.
//
// A response that was ended or aborted throws when it is used, so each step of an answer checks the state.
// Invariants:
//   - An exchange in the state 'over' does nothing, and the library's response is not used once it is gone.
//   - A connection has at most one answer that waits for its client (`unread-body.ts`).
//
// To close a connection after its answer, the library can only close it with the last bytes of a short one: it writes
// the header `connection` into the body of an answer in pieces, and buffers a long one. Then reading is paused instead:
// the client, which has read `connection: close`, ends the connection, or the library does after 10 s.

import type { UnreadAnswers } from '../../core/limits/unread-answers.ts';
import { type BodyReader, type HeaderLines, type HttpBody, type HttpExchange, isBodiless } from '../http.ts';
import { statusLine } from '../refused-requests.ts';
import { UnreadBody } from './unread-body.ts';
import { type UwsResponse, writeScratch } from './uws-library.ts';

/** What an exchange needs of its port. */
export interface UwsPort {
  /** From now on a connection ends with its answer. */
  readonly closesAfterAnswer: boolean;
  readonly unread: UnreadAnswers;
  /** Whether the connection ends with an answer that has no body. */
  endsWithoutBody(): boolean;
  /** Runs `write` when no other connection is being handled, after the earlier ones. */
  later(write: () => void): void;
  /** Where the connection comes from. */
  addressOf(response: UwsResponse): string;
}

interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderLines;
  readonly bodyBytes: number | undefined;
}

export class UwsExchange implements HttpExchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderLines;
  readonly bodyBytes: number | undefined;
  readonly #port: UwsPort;
  readonly #response: UwsResponse;
  #state: 'open' | 'begun' | 'over' = 'open';
  #bodyLeft: number;
  #reader: BodyReader | undefined;
  #gone: (() => void) | undefined;
  #isPaused = false;
  #isWatched = false;
  #isGone = false;
  #isCorked = false;
  /** The head of an answer in pieces is the whole answer. */
  #isBodiless = false;
  /** The library has the whole answer, or `#unreadBody` has the rest. */
  #isAnswered = false;
  #unreadBody: UnreadBody | undefined;
  /** The client has read that the connection ends with this answer. */
  #isLast = false;
  #queuedWrites = 0;
  /** Bytes of the answer that wait here, or that the library has taken but the operating system has not. */
  #queuedBytes = 0;
  #unsentBytes = 0;

  constructor(port: UwsPort, response: UwsResponse, { method, path, query, headers, bodyBytes }: RequestHead) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.bodyBytes = bodyBytes;
    this.#port = port;
    this.#response = response;
    this.#bodyLeft = bodyBytes ?? Number.POSITIVE_INFINITY;
  }

  get isOpen(): boolean {
    return this.#state !== 'over';
  }

  get remoteAddress(): string {
    return this.isOpen ? this.#port.addressOf(this.#response) : '';
  }

  get bufferedBytes(): number {
    return this.isOpen ? this.#queuedBytes + this.#unsentBytes : 0;
  }

  /** Runs `run`, during which the library holds the connection corked. */
  corked(run: () => void): void {
    this.#isCorked = true;
    run();
    this.#isCorked = false;
  }

  /** The callback of the request is about to return: an unanswered request has to be watched. */
  watch(): void {
    if (this.#isAnswered) return;
    this.#watch();
    if (this.isOpen && this.bodyBytes !== 0 && this.#reader === undefined) this.readBody(NOBODY);
  }

  readBody(reader: BodyReader): void {
    this.#reader = reader;
    if (this.bodyBytes === 0 || !this.isOpen) return;
    this.#watch();
    this.#response.onData((chunk, isLast) => {
      if (!this.isOpen) return;
      this.#bodyLeft = isLast ? 0 : this.#bodyLeft - chunk.byteLength;
      this.corked(() => {
        if (chunk.byteLength > 0) reader.chunk(new Uint8Array(chunk));
        if (isLast) reader.ended();
      });
    });
  }

  pauseBody(): void {
    if (!this.isOpen || this.#isPaused || this.#bodyLeft === 0) return;
    this.#isPaused = true;
    this.#response.pause();
  }

  stayPaused(): void {
    if (!this.isOpen || !this.#isPaused) return;
    // Resuming for a moment restarts the client's time limit.
    this.#response.resume();
    this.#response.pause();
  }

  resumeBody(): void {
    if (!this.isOpen || !this.#isPaused) return;
    this.#isPaused = false;
    this.#response.resume();
  }

  answer(status: number, headers: HeaderLines, body: HttpBody | undefined): void {
    if (this.#state !== 'open') return;
    const hasBody = body !== undefined && body.length > 0 && this.method !== 'HEAD';
    const closes = this.#finish(hasBody);
    this.#send(() => {
      const response = this.#response;
      this.#isAnswered = true;
      writeHead(response, status, headers);
      if (body === undefined) endBodiless(response, closes);
      else if (this.method === 'HEAD') endHead(response, body.length, closes);
      else this.#sendBody(body, closes);
    }, closes);
  }

  begin(status: number, headers: HeaderLines): void {
    if (this.#state !== 'open') return;
    this.#state = 'begun';
    this.#isBodiless = this.method === 'HEAD' || isBodiless(status);
    this.#isLast = this.#closes() && !this.#isBodiless;
    this.#watch();
    this.#send(() => {
      writeHead(this.#response, status, headers);
      if (this.#isLast) this.#response.writeHeader('connection', 'close');
      this.#response.onWritable(() => {
        this.#unsentBytes = 0;
        return true;
      });
    });
  }

  write(bytes: Uint8Array): void {
    if (this.#state !== 'begun' || this.#isBodiless) return;
    const copy = Buffer.from(bytes);
    this.#queuedBytes += copy.length;
    this.#send(() => {
      this.#queuedBytes -= copy.length;
      // The library calls back when all that it holds is sent.
      const isTaken = this.#response.write(copy);
      this.#unsentBytes = isTaken ? 0 : this.#unsentBytes + copy.length;
    });
  }

  end(): void {
    if (this.#state !== 'begun') return;
    const closes = this.#finish(!this.#isBodiless);
    this.#send(() => {
      this.#isAnswered = true;
      if (this.#isBodiless) return endBodiless(this.#response, closes);
      if (closes) this.#response.pause();
      this.#response.end(undefined, false);
    }, closes);
  }

  abort(): void {
    if (!this.isOpen) return;
    this.#state = 'over';
    this.#isGone = true;
    this.#response.close();
  }

  whenGone(listener: () => void): void {
    this.#gone = listener;
  }

  #sendBody(body: HttpBody, closes: boolean): void {
    const response = this.#response;
    const bytes = typeof body === 'string' ? writeScratch(body) : body;
    if (closes && bytes.length <= CLOSED_BYTES_MAX) {
      response.end(bytes, true);
      return;
    }
    if (closes) {
      response.writeHeader('connection', 'close');
      response.pause();
    }
    const [, isSent] = response.tryEnd(bytes, bytes.length);
    if (isSent) return;
    this.#watch();
    const { unread } = this.#port;
    this.#unreadBody = new UnreadBody(response, body, { closes, unread, later: (write) => this.#port.later(write) });
  }

  /** Only the end of the answer may follow. Returns whether that closes the connection. */
  #finish(hasBody: boolean): boolean {
    const closes = this.#closes() || (!hasBody && this.#port.endsWithoutBody());
    this.resumeBody();
    this.#state = 'over';
    return closes;
  }

  #send(write: () => void, waits = false): void {
    if (this.#isCorked && !waits && this.#queuedWrites === 0) return write();
    this.#queuedWrites++;
    this.#port.later(() => {
      this.#queuedWrites--;
      if (!this.#isGone) this.#response.cork(write);
    });
  }

  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#response.onAborted(() => {
      this.#isGone = true;
      this.#unreadBody?.gone();
      if (!this.isOpen) return;
      this.#state = 'over';
      this.#gone?.();
    });
  }

  /** Whether the connection must not bring another request: the rest of a body is discarded only up to a limit. */
  #closes(): boolean {
    return (
      this.#isLast ||
      this.#port.closesAfterAnswer ||
      this.bodyBytes === undefined ||
      this.#bodyLeft > DISCARDED_BYTES_MAX
    );
  }
}

const NOBODY: BodyReader = { chunk: () => {}, ended: () => {} };

/** Of an unread body, the bytes that are read and discarded so that its sender gets to see the answer. */
const DISCARDED_BYTES_MAX = 16 * 1024 * 1024;

/** The longest body that the library sends as a whole when it closes the connection after it. */
const CLOSED_BYTES_MAX = 64 * 1024;

/** With a length, the library would wait for that many bytes. */
function endHead(response: UwsResponse, length: number, closes: boolean): void {
  response.writeHeader('content-length', String(length));
  if (closes) {
    response.writeHeader('connection', 'close');
    response.pause();
  }
  response.endWithoutBody();
}

/** For an undefined length the library sends 2 to the power of 63; and it closes only after a length. */
function endBodiless(response: UwsResponse, closes: boolean): void {
  if (closes) response.endWithoutBody(0, true);
  else response.endWithoutBody();
}

export function addressOf(response: UwsResponse): string {
  return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
}

export function writeHead(response: UwsResponse, status: number, headers: HeaderLines): void {
  if (status !== 200) response.writeStatus(statusLine(status));
  for (let at = 0; at < headers.length; at += 2) response.writeHeader(headers[at] ?? '', headers[at + 1] ?? '');
}
