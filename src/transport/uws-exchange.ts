// One request and its answer on uWebSockets.js.
//
// A response that was ended or aborted throws when it is touched; each step of an answer says so by the state.
// Invariant:
//   E1  Nothing is asked of an exchange that is 'over', and the library's response is not touched once it is gone.

import { type BodyReader, type HeaderLines, type HttpBody, type HttpExchange, isBodiless } from './http.ts';
import { httpStatusLine } from './http-fault.ts';
import { writeScratch } from './uws-bytes.ts';
import type { UwsResponse } from './uws-library.ts';

/** What an exchange needs of its port. */
export interface UwsPort {
  /** From now on a connection ends with its answer. */
  readonly closesAfterAnswer: boolean;
  /** Runs `write` when no other connection is being handled, behind what was said before. */
  later(write: () => void): void;
  /** Where the connection comes from. */
  addressOf(response: UwsResponse): string;
}

interface RequestFacts {
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
  #isBeingTold = false;
  /** The head of an answer in pieces is all of it. */
  #isBodiless = false;
  /** The library has all of the answer. */
  #isAnswered = false;
  #queuedWrites = 0;
  /** Of the answer: waiting here, and taken by the library but not by the operating system. */
  #queuedBytes = 0;
  #unsentBytes = 0;

  constructor(port: UwsPort, response: UwsResponse, { method, path, query, headers, bodyBytes }: RequestFacts) {
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

  /** Runs `told`, during which the library holds the connection corked. */
  tell(told: () => void): void {
    this.#isBeingTold = true;
    told();
    this.#isBeingTold = false;
  }

  /** The callback that told of the request is about to return: what is not yet answered has to be watched. */
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
      this.tell(() => {
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
    // Going on for a moment is what gives the peer its time again.
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
    const closes = this.#finish();
    this.#send(() => {
      const response = this.#response;
      this.#isAnswered = true;
      writeHead(response, status, headers);
      if (body === undefined) endBodiless(response, closes);
      else if (this.method === 'HEAD') endHead(response, body.length, closes);
      else response.end(typeof body === 'string' ? writeScratch(body) : body, closes);
    }, closes);
  }

  begin(status: number, headers: HeaderLines): void {
    if (this.#state !== 'open') return;
    this.#state = 'begun';
    this.#isBodiless = this.method === 'HEAD' || isBodiless(status);
    this.#watch();
    this.#send(() => {
      writeHead(this.#response, status, headers);
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
      // What the library keeps it tells of when all of it is gone.
      const isTaken = this.#response.write(copy);
      this.#unsentBytes = isTaken ? 0 : this.#unsentBytes + copy.length;
    });
  }

  end(): void {
    if (this.#state !== 'begun') return;
    const closes = this.#finish();
    this.#send(() => {
      this.#isAnswered = true;
      if (this.#isBodiless) endBodiless(this.#response, closes);
      else this.#response.end(undefined, closes);
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

  /** Nothing but the end of the answer may follow. Returns whether that closes the connection. */
  #finish(): boolean {
    const closes = this.#closes();
    this.resumeBody();
    this.#state = 'over';
    return closes;
  }

  #send(write: () => void, waits = false): void {
    if (this.#isBeingTold && !waits && this.#queuedWrites === 0) return write();
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
      if (!this.isOpen) return;
      this.#state = 'over';
      this.#gone?.();
    });
  }

  /** Whether the connection must not bring another request: what is left of a body is read past up to a point only. */
  #closes(): boolean {
    return this.#port.closesAfterAnswer || this.bodyBytes === undefined || this.#bodyLeft > DISCARDED_BYTES_MAX;
  }
}

const NOBODY: BodyReader = { chunk: () => {}, ended: () => {} };

/** Of a body that nobody wanted, to be read and thrown away so that its sender gets to see the answer. */
const DISCARDED_BYTES_MAX = 16 * 1024 * 1024;

/** Given the length, the library would wait for as many bytes. */
function endHead(response: UwsResponse, length: number, closes: boolean): void {
  response.writeHeader('content-length', String(length));
  if (closes) response.writeHeader('connection', 'close');
  response.endWithoutBody();
}

/** With a length that is undefined the library sends 2 to the power of 63; and it closes only behind a length. */
function endBodiless(response: UwsResponse, closes: boolean): void {
  if (closes) response.endWithoutBody(0, true);
  else response.endWithoutBody();
}

export function addressOf(response: UwsResponse): string {
  return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
}

export function writeHead(response: UwsResponse, status: number, headers: HeaderLines): void {
  if (status !== 200) response.writeStatus(httpStatusLine(status));
  for (let at = 0; at < headers.length; at += 2) response.writeHeader(headers[at] ?? '', headers[at + 1] ?? '');
}
