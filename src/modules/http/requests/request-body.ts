// The body of one request: kept whole if it is JSON, otherwise handed on as fast as its reader takes it.
//
// Neighbours: the transport reports bytes; `http-request.ts` asks for the whole, or offers the reading end of a
// channel, whose writing end is this object (`router/channels/channel-pipe.ts` grants it credit).
// Invariants:
//   - At most `bytesMax` bytes are accepted, and what is kept counts in the budget of all requests.
//   - A body that is handed on is not read further while bytes of it wait here.

import type { ByteBudget } from '../../../core/limits/byte-budget.ts';
import { CreditAccount, decodeCredit } from '../../../protocol/frames/channel-credit.ts';
import { byteStringToText } from '../../../protocol/json/byte-string.ts';
import type { ChannelPipe } from '../../../router/channels/channel-pipe.ts';
import type { BodyReader, HttpExchange } from '../../../transport/http.ts';
import type { SocketEvents } from '../../../transport/socket.ts';

export interface RequestBodyOptions {
  readonly exchange: HttpExchange;
  readonly bytesMax: number;
  readonly budget: ByteBudget;
  /** Whether it is needed in one piece. */
  readonly isKept: boolean;
  /** The whole body has arrived. */
  readonly complete: () => void;
  /** The body cannot be accepted; called once. */
  readonly failed: (why: 'too_large' | 'no_memory') => void;
}

const FRAME_BYTES = 64 * 1024;
const COMPLETE = 1000;
const CUT = 1006;

export class RequestBody implements BodyReader {
  readonly #options: RequestBodyOptions;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #receivedBytes = 0;
  #isComplete = false;
  #isUnwanted = false;
  /** The pipe, once a reader has connected. */
  #pipe: SocketEvents | undefined;
  #credit: CreditAccount | undefined;
  #isPumping = false;

  constructor(options: RequestBodyOptions) {
    this.#options = options;
    this.#isComplete = options.exchange.bodyBytes === 0;
  }

  chunk(bytes: Uint8Array): void {
    const { bytesMax, budget, isKept, exchange } = this.#options;
    this.#receivedBytes += bytes.length;
    if (this.#isUnwanted) return;
    if (this.#receivedBytes > bytesMax) return this.#fail('too_large');
    if (!budget.take(bytes.length)) return this.#overflow(bytes);
    this.#waiting.push(Buffer.from(bytes));
    this.#waitingBytes += bytes.length;
    if (isKept) return;
    this.#pump();
    if (this.#waitingBytes > 0) exchange.pauseBody();
  }

  ended(): void {
    this.#isComplete = true;
    if (this.#isUnwanted) return;
    this.#options.complete();
    this.#pump();
  }

  /** Called about every second: while the body waits for its reader, its sender must not be treated as slow. */
  keepWaiting(): void {
    if (!this.#isUnwanted && !this.#options.isKept && this.#waitingBytes > 0) this.#options.exchange.stayPaused();
  }

  /** All waiting bytes, in one piece. */
  whole(): Buffer {
    if (this.#waiting.length !== 1) this.#waiting = [Buffer.concat(this.#waiting)];
    return this.#waiting[0] ?? Buffer.alloc(0);
  }

  /** A reader has connected: from now on the body flows. */
  handTo(pipe: ChannelPipe): void {
    const leave = (): void => this.release();
    this.#pipe = pipe.connectWriter(
      {
        bufferedBytes: 0,
        sendText: (text) => {
          const grant = decodeCredit(byteStringToText(text));
          if (grant === undefined) return true;
          if (this.#credit === undefined) this.#credit = new CreditAccount(grant);
          else this.#credit.add(grant);
          this.#pump();
          return true;
        },
        sendBinary: () => true,
        cork: (write) => write(),
        close: leave,
        terminate: leave,
      },
      true,
    );
    this.#pump();
  }

  /** The body is no longer needed: the request is answered, or its reader or sender left. */
  release(): void {
    if (this.#isUnwanted) return;
    this.#isUnwanted = true;
    this.#drop();
    const pipe = this.#pipe;
    this.#pipe = undefined;
    pipe?.closed(CUT);
    this.#options.exchange.resumeBody();
  }

  #pump(): void {
    if (this.#isPumping || this.#pipe === undefined) return;
    this.#isPumping = true;
    while (this.#pipe !== undefined && this.#credit?.isOpen === true) {
      const [first] = this.#waiting;
      if (first === undefined) break;
      this.#send(first);
    }
    this.#isPumping = false;
    if (this.#waiting.length > 0 || this.#pipe === undefined) return;
    if (this.#isComplete) this.#finish(this.#pipe);
    else if (this.#credit?.isOpen === true) this.#options.exchange.resumeBody();
  }

  /**
   * uWebSockets.js reads on after a pause for as long as a fast sender fills its buffer. What finds no room here goes
   * to the channel without credit. It is kept there in a file.
   */
  #overflow(bytes: Uint8Array): void {
    if (this.#options.isKept || this.#pipe === undefined) return this.#fail('no_memory');
    const waiting = this.#waiting;
    this.#drop();
    for (const held of [...waiting, Buffer.from(bytes)]) {
      for (let at = 0; at < held.length; at += FRAME_BYTES) {
        this.#pass(held.subarray(at, at + FRAME_BYTES));
      }
    }
  }

  #send(first: Buffer): void {
    const part = first.subarray(0, FRAME_BYTES);
    if (part.length === first.length) this.#waiting.shift();
    else this.#waiting[0] = first.subarray(FRAME_BYTES);
    this.#waitingBytes -= part.length;
    this.#options.budget.giveBack(part.length);
    this.#pass(part);
  }

  #pass(part: Buffer): void {
    this.#credit?.spend(part.length);
    this.#pipe?.message(part, true);
  }

  #finish(pipe: SocketEvents): void {
    this.#isUnwanted = true;
    this.#pipe = undefined;
    pipe.closed(COMPLETE);
  }

  #fail(why: 'too_large' | 'no_memory'): void {
    this.release();
    this.#options.failed(why);
  }

  #drop(): void {
    this.#options.budget.giveBack(this.#waitingBytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}
