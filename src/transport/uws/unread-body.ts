// The rest of an answer whose client reads more slowly than the engine writes. The library would buffer it without a
// limit, and then answer the next request of that connection; kept here it counts, and the library ends a
// connection that sends another request meanwhile.

import type { UnreadAnswer, UnreadAnswers } from '../../core/limits/unread-answers.ts';
import type { HttpBody } from '../http.ts';
import type { UwsResponse } from './uws-library.ts';

/** What an answer that waits needs of its port. */
export interface AnswerHolder {
  readonly unread: UnreadAnswers;
  /** Runs `write` when no other connection is being handled, after the earlier ones. */
  later(write: () => void): void;
}

/** An answer that the library has not completed, because its client has not read it. */
export class HeldAnswer implements UnreadAnswer {
  readonly #response: UwsResponse;
  readonly #holder: AnswerHolder;
  #isOver = false;

  constructor(response: UwsResponse, holder: AnswerHolder) {
    this.#response = response;
    this.#holder = holder;
  }

  hold(bytes: number): void {
    this.#holder.unread.hold(this, bytes);
  }

  /** The answer is complete, or its client is gone. */
  gone(): void {
    this.#isOver = true;
    this.#holder.unread.release(this);
  }

  abort(): void {
    this.#holder.later(() => {
      if (!this.#isOver) this.#response.close();
    });
  }
}

export class UnreadBody extends HeldAnswer {
  /** For an answer that the library has taken in part. */
  constructor(response: UwsResponse, body: HttpBody, holder: AnswerHolder) {
    super(response, holder);
    const rest = restOf(response, body);
    const sent = response.getWriteOffset();
    response.onWritable((offset) => {
      const [isFree, isSent] = response.tryEnd(rest.subarray(offset - sent), body.length);
      if (isSent) this.gone();
      return isFree;
    });
    this.hold(rest.length);
  }
}

/** What the library has not taken of the body. */
export function restOf(response: UwsResponse, body: HttpBody): Uint8Array {
  const sent = response.getWriteOffset();
  return typeof body === 'string' ? Buffer.from(body.slice(sent), 'latin1') : body.subarray(sent);
}
