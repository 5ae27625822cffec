// One request and its answer on `node:http`.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { fullAddress } from '../../core/limits/client-address.ts';
import type { UnreadAnswer, UnreadAnswers } from '../../core/limits/unread-answers.ts';
import { textToByteString } from '../../protocol/json/byte-string.ts';
import type { BodyReader, HeaderLines, HttpBody, HttpExchange } from '../http.ts';
import { faultBody } from '../refused-requests.ts';

export interface NodeRequest {
  readonly headers: HeaderLines;
  readonly bodyBytes: number | undefined;
  /** Whether the port takes no further request from this connection. */
  readonly isClosing: () => boolean;
  readonly unread: UnreadAnswers;
  readonly nowMs: number;
}

/** The slowest upload: at least this many bytes in each stretch of time. */
const MEASURE_MS = 10_000;
const MEASURED_BYTES_MIN = 10 * 1024;
/** Of an unread body, the bytes that are read and discarded so that its sender gets to see the answer. */
const DISCARDED_BYTES_MAX = 16 * 1024 * 1024;

export class NodeExchange implements HttpExchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderLines;
  readonly bodyBytes: number | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #isClosing: () => boolean;
  readonly #unread: UnreadAnswers;
  #state: 'open' | 'begun' | 'over' = 'open';
  #bodyReceived = 0;
  #isBodyComplete: boolean;
  #reader: BodyReader | undefined;
  #gone: (() => void) | undefined;
  /** The finished answer no longer waits for its client. */
  #release: (() => void) | undefined;
  /** Of the stretch in which the pace of both directions is being measured. */
  #measured: { readonly sinceMs: number; readonly received: number; readonly written: number };

  constructor(request: IncomingMessage, response: ServerResponse, details: NodeRequest) {
    const { method = '', url = '' } = request;
    const mark = url.indexOf('?');
    this.method = method;
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    this.headers = details.headers;
    this.bodyBytes = details.bodyBytes;
    this.#request = request;
    this.#response = response;
    this.#isClosing = details.isClosing;
    this.#unread = details.unread;
    this.#isBodyComplete = details.bodyBytes === 0;
    this.#measured = { sinceMs: details.nowMs, received: 0, written: request.socket.bytesWritten };
    // An error also ends the connection, and that end is reported.
    request.on('error', () => {});
    response.on('error', () => {});
    response.once('close', () => this.closed());
  }

  get isOpen(): boolean {
    return this.#state !== 'over';
  }

  get remoteAddress(): string {
    return fullAddress(this.#request.socket.remoteAddress ?? '');
  }

  get bufferedBytes(): number {
    return this.isOpen ? this.#response.writableLength : 0;
  }

  passedToEngine(): void {
    if (this.#reader === undefined) this.#request.resume();
  }

  readBody(reader: BodyReader): void {
    this.#reader = reader;
    this.#request.on('data', (chunk: Buffer) => {
      this.#bodyReceived += chunk.length;
      if (this.isOpen) reader.chunk(chunk);
    });
    this.#request.on('end', () => {
      this.#isBodyComplete = true;
      if (this.isOpen) reader.ended();
    });
  }

  pauseBody(): void {
    if (this.isOpen) this.#request.pause();
  }

  stayPaused(): void {
    // The pace of a body is measured here, and not while the body is paused.
  }

  resumeBody(): void {
    if (this.#request.isPaused()) this.#request.resume();
  }

  answer(status: number, headers: HeaderLines, body: HttpBody | undefined): void {
    if (this.#state !== 'open') return;
    this.#state = 'over';
    this.#gone = undefined;
    const lines = this.#headLines(headers);
    if (body !== undefined) lines.push('content-length', String(body.length));
    this.#response.writeHead(status, lines);
    if (typeof body === 'string') this.#response.end(body, 'latin1');
    else this.#response.end(body);
    if (this.#response.writableLength > 0 && !this.#request.socket.destroyed) this.#holdUnread();
    this.#request.resume();
  }

  begin(status: number, headers: HeaderLines): void {
    if (this.#state !== 'open') return;
    this.#state = 'begun';
    this.#response.writeHead(status, this.#headLines(headers));
    this.#response.flushHeaders();
  }

  write(bytes: Uint8Array): void {
    // A copy, because it is kept until it is sent and the bytes are valid during this call only.
    if (this.#state === 'begun') this.#response.write(Buffer.from(bytes));
  }

  end(): void {
    if (this.#state !== 'begun') return;
    this.#state = 'over';
    this.#gone = undefined;
    this.#response.end();
    this.#request.resume();
  }

  abort(): void {
    if (!this.isOpen) return;
    this.#state = 'over';
    this.#request.socket.destroy();
  }

  whenGone(listener: () => void): void {
    this.#gone = listener;
  }

  /** The answer is sent, or its connection has ended. The library does not report it for one that waits. */
  closed(): void {
    this.#state = 'over';
    this.#release?.();
    this.#release = undefined;
    this.#gone?.();
    this.#gone = undefined;
  }

  /** Ends what is too slow: the sender of a body, or the reader of an answer. */
  check(nowMs: number): void {
    const { socket } = this.#request;
    const measured = { sinceMs: nowMs, received: this.#bodyReceived, written: socket.bytesWritten };
    if (nowMs - this.#measured.sinceMs < MEASURE_MS) return;
    const isUploadSlow =
      !this.#isBodyComplete &&
      !this.#request.isPaused() &&
      measured.received - this.#measured.received < MEASURED_BYTES_MIN;
    const isReaderStill = socket.writableLength > 0 && measured.written === this.#measured.written;
    this.#measured = measured;
    if (isReaderStill) socket.destroy();
    else if (isUploadSlow) this.#endSlowUpload();
  }

  #holdUnread(): void {
    const { socket } = this.#request;
    const answer: UnreadAnswer = { abort: () => socket.destroy() };
    this.#unread.hold(answer, this.#response.writableLength);
    this.#release = () => this.#unread.release(answer);
  }

  #endSlowUpload(): void {
    const gone = this.#gone;
    if (this.#state !== 'open') {
      this.#request.socket.destroy();
      return;
    }
    const message = `The body came slower than ${MEASURED_BYTES_MIN} bytes in ${MEASURE_MS / 1_000} s`;
    this.#isBodyComplete = true;
    this.#state = 'over';
    this.#response.writeHead(408, { 'content-type': 'application/json', connection: 'close' });
    this.#response.end(faultBody({ status: 408, code: 'TIMEOUT', message }));
    gone?.();
  }

  #headLines(headers: HeaderLines): string[] {
    const left = this.#isBodyComplete ? 0 : (this.bodyBytes ?? 0) - this.#bodyReceived;
    const closes = this.#isClosing() || left > DISCARDED_BYTES_MAX;
    // The library sends one byte per character, and throws for characters beyond U+00FF.
    const lines: string[] = headers.map(textToByteString);
    if (closes) lines.push('connection', 'close');
    return lines;
  }
}
