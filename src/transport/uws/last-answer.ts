// The last answer of a connection: sent whole, and then the connection ends.
//
// The library's own `end(body, true)` closes only if the client has read all answers before; otherwise it keeps the
// answer and handles further requests, and so does not end a client that never reads. Here the response stays pending
// while its bytes wait, and the library ends a connection that sends another request then. Reading is not paused: each
// write that the operating system takes in part would resume it.
//
// The head has the length of the body. The last byte is sent as if one more followed, so that the response is still
// pending, and can be closed, when the client has been sent all of it. That needs two bytes. Shorter answers depend on
// the version of the library. Up to 20.51 a write of no bytes sends the head and leaves the response pending. In 20.69
// it completes the response, and the port refuses what the connection sends afterwards (`ended-connections.ts`).

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

/** What the last answer of a connection needs of its port. */
export interface LastAnswerHolder extends AnswerHolder {
  /** The connection ends with this answer. False: the library cannot say which connection it is. */
  noteEnded(response: UwsResponse): boolean;
}

export class LastAnswer extends HeldAnswer {
  readonly #response: UwsResponse;
  readonly #length: number;
  readonly #bodyBytes: number;

  /** Not while the connection is corked: what a cork holds back does not count as waiting. */
  constructor(response: UwsResponse, { head, body, length }: WholeAnswer, holder: LastAnswerHolder) {
    super(response, holder);
    this.#response = response;
    this.#length = length;
    const bytes = typeof body === 'string' ? writeScratch(body) : (body ?? NOTHING);
    this.#bodyBytes = bytes.length;
    const isLong = bytes.length >= 2;
    const isEnded = !isLong && holder.noteEnded(response);
    response.cork(() => {
      head();
      response.writeHeader('connection', 'close');
      if (isLong) response.tryEnd(bytes.subarray(0, -1), length);
      else if (!isEnded) this.#beginShort(bytes);
      else if (bytes.length === 1) response.end(bytes, true);
      else response.endWithoutBody(length, true);
    });
    if (!isEnded && !this.#closeIfSent(bytes)) this.#wait(body ?? NOTHING);
  }

  #beginShort(bytes: Uint8Array): void {
    // With a length of 0 the library would complete the response. An answer that has no body by definition may have
    // any length, and clients ignore it.
    this.#response.tryEnd(NOTHING, Math.max(1, this.#length));
    if (bytes.length > 0) this.#response.tryEnd(bytes, this.#length + 1);
  }

  #wait(body: HttpBody): void {
    const sent = this.#response.getWriteOffset();
    const rest = restOf(this.#response, body);
    this.#response.onWritable((offset) => {
      const left = rest.subarray(offset - sent);
      if (left.length > 1) this.#response.tryEnd(left.subarray(0, -1), this.#length);
      return this.#closeIfSent(rest.subarray(this.#response.getWriteOffset() - sent));
    });
    this.hold(rest.length + HEAD_BYTES);
  }

  /** Sends the last byte and closes the connection, if the operating system has all bytes before. */
  #closeIfSent(left: Uint8Array): boolean {
    if (this.#response.getWriteOffset() < this.#bodyBytes - 1) return false;
    const isTaken = this.#isTaken(this.#bodyBytes < 2 ? NOTHING : left.subarray(-1));
    if (!isTaken || this.#response.getWriteOffset() < this.#bodyBytes) return false;
    this.gone();
    this.#response.close();
    return true;
  }

  /** Whether the operating system has taken the bytes, and all before them. */
  #isTaken(bytes: Uint8Array): boolean {
    const response = this.#response;
    const total = this.#length + 1;
    // The library warns of a write outside a cork. In 20.69 there is no other way to see what became of it.
    if (completesEmptyWrites(response)) return response.tryEnd(bytes, total)[0];
    // What a cork holds back counts as taken; the next write reports whether it was.
    response.cork(() => response.tryEnd(bytes, total));
    let isTaken = false;
    response.cork(() => {
      [isTaken] = response.tryEnd(NOTHING, total);
    });
    return isTaken;
  }
}

function completesEmptyWrites(response: UwsResponse): boolean {
  return response.getRemotePort !== undefined;
}

const NOTHING = new Uint8Array(0);
/** About the length of a head, which the library keeps where it cannot be sent. */
const HEAD_BYTES = 512;
