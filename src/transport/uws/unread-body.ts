// The rest of an answer whose client reads more slowly than the engine writes. The library would buffer it without a
// limit, and then answer the next request of that connection; kept here it counts, and the library ends a
// connection that sends another request meanwhile.

import type { UnreadAnswer, UnreadAnswers } from '../../core/limits/unread-answers.ts';
import type { HttpBody } from '../http.ts';
import type { UwsResponse } from './uws-library.ts';

export interface UnreadBodyOptions {
  /** The connection must not bring another request. */
  readonly closes: boolean;
  readonly unread: UnreadAnswers;
  /** Runs `write` when no other connection is being handled. */
  later(write: () => void): void;
}

export class UnreadBody implements UnreadAnswer {
  readonly #response: UwsResponse;
  readonly #options: UnreadBodyOptions;
  #isOver = false;

  /** For an answer that the library has taken in part. */
  constructor(response: UwsResponse, body: HttpBody, options: UnreadBodyOptions) {
    this.#response = response;
    this.#options = options;
    const sent = response.getWriteOffset();
    const rest = typeof body === 'string' ? Buffer.from(body.slice(sent), 'latin1') : body.subarray(sent);
    response.onWritable((offset) => this.#sendMore(rest.subarray(offset - sent), body.length));
    options.unread.hold(this, rest.length);
  }

  /** The client is gone. */
  gone(): void {
    this.#isOver = true;
    this.#options.unread.release(this);
  }

  abort(): void {
    this.#options.later(() => {
      if (!this.#isOver) this.#response.close();
    });
  }

  #sendMore(rest: Uint8Array, bodyBytes: number): boolean {
    // Writing resumes reading as well.
    if (this.#options.closes) this.#response.pause();
    const [isFree, isSent] = this.#response.tryEnd(rest, bodyBytes);
    if (isSent) this.gone();
    return isFree;
  }
}
