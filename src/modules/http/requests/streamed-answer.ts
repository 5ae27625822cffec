// An answer that its handler writes in pieces into a channel (modules 5.5): this object is the reading end.
//
// Text messages set the head, bytes are the body. The head is sent with the first bytes, or at the end. Neighbours:
// `router/channels/channel-pipe.ts` pauses its writer while `bufferedBytes` is high; `http-request.ts` owns it. States:
// `open` (the head may still be changed) → `begun` → `over`.

import { type ByteString, byteStringToText } from '../../../protocol/json/byte-string.ts';
import type { ChannelPipe, EndSocket } from '../../../router/channels/channel-pipe.ts';
import type { HeaderLines, HttpExchange } from '../../../transport/http.ts';
import type { SocketEvents } from '../../../transport/socket.ts';
import { checkHeaders } from './handler-result.ts';

export interface StreamedAnswerOptions {
  readonly exchange: HttpExchange;
  /** The headers of the writer, with those that the engine adds. */
  readonly headers: (own: HeaderLines) => HeaderLines;
  readonly nowMs: () => number;
  /** The head is sent. */
  readonly begun: () => void;
  /** The answer is complete, or was aborted. */
  readonly over: () => void;
  /** It ended before its head was sent. */
  readonly failed: (why: 'lost' | 'bad_header', detail: string) => void;
}

const COMPLETE = 1000;
const GONE = 1006;
/** The limit between two writes, and for a client that reads nothing. */
const IDLE_MS_MAX = 60_000;
/** Of all instructions for one head: its writer may be a page, and no other limit holds for what is kept of them. */
const HEAD_BYTES_MAX = 256 * 1024;

export class StreamedAnswer {
  readonly #options: StreamedAnswerOptions;
  #state: 'open' | 'begun' | 'over' = 'open';
  #status = 200;
  #headers: HeaderLines = [];
  #headBytes = 0;
  #pipe: SocketEvents | undefined;
  #movedMs: number;

  constructor(options: StreamedAnswerOptions) {
    this.#options = options;
    this.#movedMs = options.nowMs();
  }

  get hasBegun(): boolean {
    return this.#state === 'begun';
  }

  /** The other end is about to be taken. */
  takeFrom(pipe: ChannelPipe): void {
    const answer = this;
    const socket: EndSocket = {
      get bufferedBytes() {
        return answer.#options.exchange.bufferedBytes;
      },
      sendText: (text) => this.#readHead(text),
      sendBinary: (bytes) => this.#write(bytes),
      cork: (write) => write(),
      close: (code) => this.#ended(code),
      terminate: () => this.#ended(GONE),
    };
    this.#pipe = pipe.connectReader(socket, false);
  }

  /** The client disconnected, or another answer was given: the writer must stop. */
  leave(): void {
    this.#state = 'over';
    const pipe = this.#pipe;
    this.#pipe = undefined;
    pipe?.closed(GONE);
  }

  /** Aborts an answer in which nothing has moved for too long. */
  checkIdle(nowMs: number): void {
    if (this.#state !== 'begun') return;
    if (nowMs - this.#movedMs >= IDLE_MS_MAX) this.breakOff();
  }

  /** The client must see that the answer is incomplete. */
  breakOff(): void {
    if (this.#state !== 'begun') return;
    this.leave();
    this.#options.exchange.abort();
    this.#options.over();
  }

  #readHead(text: ByteString): boolean {
    if (this.#state !== 'open') return true;
    this.#headBytes += text.length;
    if (this.#headBytes > HEAD_BYTES_MAX) {
      this.#refuse(`the instructions for its head have more than ${HEAD_BYTES_MAX} bytes`);
      return true;
    }
    const instruction = parseInstruction(byteStringToText(text));
    if (instruction?.type === 'set_status') {
      const { status_code: status } = instruction;
      if (typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599) {
        this.#status = status;
      }
    } else if (instruction?.type === 'set_headers') {
      const checked = checkHeaders(instruction.headers);
      if (checked.ok) this.#headers = [...this.#headers, ...checked.lines];
      else this.#refuse(checked.reason);
    }
    return true;
  }

  #refuse(reason: string): void {
    this.leave();
    this.#options.failed('bad_header', reason);
  }

  #write(bytes: Uint8Array): boolean {
    if (this.#state === 'open') this.#begin();
    if (this.#state !== 'begun' || bytes.length === 0) return true;
    this.#movedMs = this.#options.nowMs();
    this.#options.exchange.write(bytes);
    return true;
  }

  #begin(): void {
    this.#state = 'begun';
    this.#options.exchange.begin(this.#status, this.#options.headers(this.#headers));
    this.#options.begun();
  }

  #ended(code: number): void {
    if (this.#state === 'over') return;
    this.#pipe = undefined;
    if (code !== COMPLETE) {
      if (this.#state === 'begun') return this.breakOff();
      this.#state = 'over';
      this.#options.failed('lost', 'its channel broke off');
      return;
    }
    if (this.#state === 'open') this.#begin();
    this.#state = 'over';
    this.#options.exchange.end();
    this.#options.over();
  }
}

function parseInstruction(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    const instruction: unknown = JSON.parse(text);
    return typeof instruction === 'object' && instruction !== null ? { ...instruction } : undefined;
  } catch {
    // A text message that is no instruction is ignored.
    return undefined;
  }
}
