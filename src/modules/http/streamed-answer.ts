// An answer that its handler writes piece by piece into a channel (modules 5.5): this object is the reading end.
//
// Texts are orders for the head, bytes are the body. The head leaves with the first bytes, or with the end.
// Neighbours: `router/channel-pipe.ts` holds its writer back while `bufferedBytes` is high; `flight.ts` owns it.
// States: `open` (the head may still be changed) → `begun` → `over`.

import { type ByteString, byteStringToText } from '../../protocol/byte-string.ts';
import type { ChannelPipe, EndSocket } from '../../router/channel-pipe.ts';
import type { HeaderLines, HttpExchange } from '../../transport/http.ts';
import type { SocketEvents } from '../../transport/socket.ts';
import { checkHeaders } from './header-rules.ts';

export interface StreamedAnswerParts {
  readonly exchange: HttpExchange;
  /** Those of the writer, with what the engine adds. */
  readonly headers: (own: HeaderLines) => HeaderLines;
  readonly nowMs: () => number;
  /** The head is out. */
  readonly begun: () => void;
  /** The answer is complete, or was broken off. */
  readonly over: () => void;
  /** It ended before its head was out. */
  readonly failed: (why: 'lost' | 'bad_header', detail: string) => void;
}

const COMPLETE = 1000;
const GONE = 1006;
/** Between two writes, and for a client that takes nothing. */
const IDLE_MS_MAX = 60_000;

export class StreamedAnswer {
  readonly #parts: StreamedAnswerParts;
  #state: 'open' | 'begun' | 'over' = 'open';
  #status = 200;
  #headers: HeaderLines = [];
  #pipe: SocketEvents | undefined;
  #movedMs: number;

  constructor(parts: StreamedAnswerParts) {
    this.#parts = parts;
    this.#movedMs = parts.nowMs();
  }

  get hasBegun(): boolean {
    return this.#state === 'begun';
  }

  /** The other end is about to be taken. */
  takeFrom(pipe: ChannelPipe): void {
    const answer = this;
    const socket: EndSocket = {
      get bufferedBytes() {
        return answer.#parts.exchange.bufferedBytes;
      },
      sendText: (text) => this.#order(text),
      sendBinary: (bytes) => this.#write(bytes),
      cork: (write) => write(),
      close: (code) => this.#ended(code),
      terminate: () => this.#ended(GONE),
    };
    this.#pipe = pipe.connectReader(socket, false);
  }

  /** The client left, or another answer was given: the writer is to stop. */
  leave(): void {
    this.#state = 'over';
    const pipe = this.#pipe;
    this.#pipe = undefined;
    pipe?.closed(GONE);
  }

  /** Breaks off an answer in which nothing has moved for too long. */
  checkIdle(nowMs: number): void {
    if (this.#state !== 'begun') return;
    if (nowMs - this.#movedMs >= IDLE_MS_MAX) this.breakOff();
  }

  /** The client has to see that something is missing. */
  breakOff(): void {
    if (this.#state !== 'begun') return;
    this.leave();
    this.#parts.exchange.abort();
    this.#parts.over();
  }

  #order(text: ByteString): boolean {
    if (this.#state !== 'open') return true;
    const order = parseOrder(byteStringToText(text));
    if (order?.type === 'set_status') {
      const { status_code: status } = order;
      if (typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599) {
        this.#status = status;
      }
    } else if (order?.type === 'set_headers') {
      const checked = checkHeaders(order.headers);
      if (checked.ok) this.#headers = [...this.#headers, ...checked.lines];
      else {
        this.leave();
        this.#parts.failed('bad_header', checked.reason);
      }
    }
    return true;
  }

  #write(bytes: Uint8Array): boolean {
    if (this.#state === 'open') this.#begin();
    if (this.#state !== 'begun' || bytes.length === 0) return true;
    this.#movedMs = this.#parts.nowMs();
    this.#parts.exchange.write(bytes);
    return true;
  }

  #begin(): void {
    this.#state = 'begun';
    this.#parts.exchange.begin(this.#status, this.#parts.headers(this.#headers));
    this.#parts.begun();
  }

  #ended(code: number): void {
    if (this.#state === 'over') return;
    this.#pipe = undefined;
    if (code !== COMPLETE) {
      if (this.#state === 'begun') return this.breakOff();
      this.#state = 'over';
      this.#parts.failed('lost', 'its channel broke off');
      return;
    }
    if (this.#state === 'open') this.#begin();
    this.#state = 'over';
    this.#parts.exchange.end();
    this.#parts.over();
  }
}

function parseOrder(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    const order: unknown = JSON.parse(text);
    return typeof order === 'object' && order !== null ? { ...order } : undefined;
  } catch {
    // A text that is no order has no meaning here.
    return undefined;
  }
}
