// A request to a route of the engine of `svc-sdk/testing`, and its answer, without a socket.

import { type ByteString, byteStringToText } from '../protocol/json/byte-string.ts';
import type { FakeRequest, FakeResponse } from '../sdk/testing/testing-fake.ts';
import type { BodyReader, HeaderLines, HttpBody, HttpExchange } from '../transport/http.ts';

export class MemoryExchange implements HttpExchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderLines;
  readonly remoteAddress = '127.0.0.1';
  readonly bodyBytes: number;
  readonly bufferedBytes = 0;
  readonly #body: Buffer;
  readonly #answered: (response: FakeResponse) => void;
  readonly #chunks: Uint8Array[] = [];
  #status = 0;
  #answerHeaders: HeaderLines = [];
  isOpen = true;

  constructor({ method = 'GET', path, headers = {}, body }: FakeRequest, answered: (response: FakeResponse) => void) {
    const { pathname, search } = new URL(path, 'http://127.0.0.1');
    const isText = typeof body === 'string' || body === undefined;
    const given = { host: '127.0.0.1', ...(isText ? {} : { 'content-type': 'application/json' }), ...headers };
    this.method = method;
    this.path = pathname;
    this.query = search.slice(1);
    this.headers = Object.entries(given).flatMap(([name, value]) => [name.toLowerCase(), value]);
    this.#body = Buffer.from(isText ? (body ?? '') : JSON.stringify(body));
    this.bodyBytes = this.#body.length;
    this.#answered = answered;
  }

  readBody(reader: BodyReader): void {
    if (this.#body.length > 0) reader.chunk(this.#body);
    reader.ended();
  }

  pauseBody(): void {}
  stayPaused(): void {}
  resumeBody(): void {}
  whenGone(): void {}

  answer(status: number, headers: HeaderLines, body: HttpBody | undefined): void {
    if (!this.isOpen) return;
    this.begin(status, headers);
    if (body !== undefined) this.write(typeof body === 'string' ? bytesOf(body) : body);
    this.end();
  }

  begin(status: number, headers: HeaderLines): void {
    this.#status = status;
    this.#answerHeaders = headers;
  }

  write(bytes: Uint8Array): void {
    this.#chunks.push(bytes.slice());
  }

  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    const headers: Record<string, string> = {};
    for (let at = 0; at + 1 < this.#answerHeaders.length; at += 2) {
      headers[this.#answerHeaders[at] ?? ''] = this.#answerHeaders[at + 1] ?? '';
    }
    this.#answered({ status: this.#status, headers, body: Buffer.concat(this.#chunks).toString('utf8') });
  }

  abort(): void {
    this.end();
  }
}

function bytesOf(body: ByteString): Uint8Array {
  return Buffer.from(byteStringToText(body));
}
