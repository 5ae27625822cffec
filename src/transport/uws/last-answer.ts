// The last answer of a connection: sent whole, and then the connection ends.
//
// The library's own `end(body, true)` closes only if the client has read all answers before; otherwise it keeps the
// answer and handles further requests, and so does not end a client that never reads. Here the response stays pending
// while its bytes wait, and the library ends a connection that sends another request then. Reading is not paused: each
// write that the operating system takes in part would resume it.
//
// The first `tryEnd` sends the head with the length of the body. The later ones count one byte more, so that the
// response is still pending, and can be closed, when the client has been sent all of it.

import type { HttpBody } from '../http.ts';
import { type AnswerHolder, HeldAnswer, restOf } from './unread-body.ts';
import { type UwsResponse, writeScratch } from './uws-library.ts';

export interface WholeAnswer {
  /** Writes status and headers. */
  head(): void;
  /** `undefined`: only the length is sent. */
  readonly body: HttpBody | undefined;
  readonly length: number;
}

export class LastAnswer extends HeldAnswer {
  readonly #response: UwsResponse;
  /** What the library is to expect: one byte more than there is. */
  readonly #total: number;
  readonly #bodyBytes: number;

  /** Not while the connection is corked: what a cork holds back does not count as waiting. */
  constructor(response: UwsResponse, { head, body, length }: WholeAnswer, holder: AnswerHolder) {
    super(response, holder);
    this.#response = response;
    this.#total = length + 1;
    const bytes = typeof body === 'string' ? writeScratch(body) : (body ?? NOTHING);
    this.#bodyBytes = bytes.length;
    response.cork(() => {
      head();
      response.writeHeader('connection', 'close');
      // With a length of 0 the library would complete the response. An answer that has no body by definition may have
      // any length, and clients ignore it.
      response.tryEnd(NOTHING, Math.max(1, length));
      if (bytes.length > 0) response.tryEnd(bytes, this.#total);
    });
    if (!this.#closeIfSent()) this.#wait(body ?? NOTHING);
  }

  #wait(body: HttpBody): void {
    const sent = this.#response.getWriteOffset();
    const rest = restOf(this.#response, body);
    this.#response.onWritable((offset) => {
      if (offset - sent < rest.length) this.#response.tryEnd(rest.subarray(offset - sent), this.#total);
      return this.#closeIfSent();
    });
    this.hold(rest.length + HEAD_BYTES);
  }

  /** Closes the connection if the operating system has all bytes. */
  #closeIfSent(): boolean {
    let isFree = false;
    this.#response.cork(() => {
      [isFree] = this.#response.tryEnd(NOTHING, this.#total);
    });
    if (!isFree || this.#response.getWriteOffset() < this.#bodyBytes) return false;
    this.gone();
    this.#response.close();
    return true;
  }
}

const NOTHING = new Uint8Array(0);
/** About the length of a head, which the library keeps where it cannot be sent. */
const HEAD_BYTES = 512;
