// One request and its answer on uWebSockets.js.
//
// A response that was ended or aborted throws when it is used, so each step of an answer checks the state.
// Invariants:
//   - An exchange in the state 'over' does nothing, and the library's response is not used once it is gone.
//   - A connection has at most one answer that waits for its client (`unread-body.ts`).
//
// A connection that must end is closed by `last-answer.ts`. After an answer in pieces reading is paused instead: the
// client, which has read `connection: close`, ends the connection, or the library does after 10 s.

import { type BodyReader, type HeaderLines, type HttpBody, type HttpExchange, isBodiless } from '../http.ts';
import { statusLine } from '../refused-requests.ts';
import { LastAnswer, type LastAnswerHolder } from './last-answer.ts';
import { HeldAnswer, UnreadBody } from './unread-body.ts';
import { type UwsResponse, writeScratch } from './uws-library.ts';

/** What an exchange needs of its port. */
export interface UwsPort extends LastAnswerHolder {
  /** From now on a connection ends with its answer. */
  readonly closesAfterAnswer: boolean;
  /** Whether the connection ends with an answer that has no body. */
  endsWithoutBody(): boolean;
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
  /** The library has the whole answer, or `#rest` has what is missing. */
  #isAnswered = false;
  #rest: HeldAnswer | undefined;
  /** Called when the client has read all pieces, if the answer ends with them. */
  #piecesSent: (() => void) | undefined;
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
    const isEnded = !hasBody && this.#port.endsWithoutBody();
    const closes = this.#finish() || isEnded;
    const length = body === undefined ? 0 : body.length;
    if (closes && (length > 0 || isEnded)) {
      const head = (): void => writeHead(this.#response, status, headers);
      return this.#sendLast(head, hasBody ? body : undefined, length);
    }
    this.#send(() => {
      this.#isAnswered = true;
      writeHead(this.#response, status, headers);
      if (hasBody) this.#sendBody(body);
      else endBodiless(this.#response, body === undefined ? undefined : length, closes);
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
        this.#piecesSent?.();
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
    const isEnded = this.#isBodiless && this.#port.endsWithoutBody();
    const closes = this.#finish() || isEnded;
    if (isEnded) return this.#sendLast(() => {}, undefined, 0);
    this.#send(() => {
      this.#isAnswered = true;
      if (this.#isBodiless) endBodiless(this.#response, undefined, closes);
      else if (this.#unsentBytes === 0) this.#endPieces(closes);
      else this.#holdPieces(closes);
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

  #sendBody(body: HttpBody): void {
    const response = this.#response;
    const bytes = typeof body === 'string' ? writeScratch(body) : body;
    const [, isSent] = response.tryEnd(bytes, bytes.length);
    if (isSent) return;
    this.#watch();
    this.#rest = new UnreadBody(response, body, this.#port);
  }

  /** `body` is undefined where only its length is sent. */
  #sendLast(head: () => void, body: HttpBody | undefined, length: number): void {
    this.#queuedWrites++;
    this.#port.later(() => {
      this.#queuedWrites--;
      if (this.#isGone) return;
      this.#isAnswered = true;
      this.#watch();
      this.#rest = new LastAnswer(this.#response, { head, body, length }, this.#port);
    });
  }

  /** Until the client has read the pieces, the response stays pending, and no further request is handled. */
  #holdPieces(closes: boolean): void {
    const rest = new HeldAnswer(this.#response, this.#port);
    this.#rest = rest;
    this.#piecesSent = () => {
      rest.gone();
      this.#piecesSent = undefined;
      this.#endPieces(closes);
    };
    rest.hold(this.#unsentBytes);
  }

  #endPieces(closes: boolean): void {
    if (closes) this.#response.pause();
    this.#response.end(undefined, false);
  }

  /** Only the end of the answer may follow. Returns whether that closes the connection. */
  #finish(): boolean {
    const closes = this.#closes();
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
      this.#rest?.gone();
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

/**
 * Without a body. For an undefined length the library sends 2 to the power of 63 when it closes the connection, and it
 * closes only after a length.
 */
function endBodiless(response: UwsResponse, length: number | undefined, closes: boolean): void {
  if (closes) {
    response.endWithoutBody(length ?? 0, true);
    return;
  }
  // With a length, the library would wait for that many bytes.
  if (length !== undefined) response.writeHeader('content-length', String(length));
  response.endWithoutBody();
}

export function addressOf(response: UwsResponse): string {
  return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
}

export function writeHead(response: UwsResponse, status: number, headers: HeaderLines): void {
  if (status !== 200) response.writeStatus(statusLine(status));
  for (let at = 0; at < headers.length; at += 2) response.writeHeader(headers[at] ?? '', headers[at + 1] ?? '');
}
