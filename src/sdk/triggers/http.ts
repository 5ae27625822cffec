// Answers of HTTP triggers that are written piece by piece.

import { SvcError } from '../calls/errors.ts';
import type { ChannelWriter } from '../channels/channel-writer.ts';
import type { HandlerContext } from '../worker/handler.ts';
import type { HttpHeaders, HttpReply, HttpRequest } from './http-messages.ts';

/**
 * An answer that is written piece by piece: server-sent events, large downloads, output as it is produced.
 *
 * @example
 * import { type HttpAnswer, type HttpRequest, streamed } from 'svc-sdk';
 *
 * export const count = streamed(async (_request: HttpRequest, answer: HttpAnswer) => {
 *   answer.headers({ 'content-type': 'text/plain' });
 *   for (let line = 1; line <= 3; line++) await answer.write(`${line}\n`);
 * });
 */
export class HttpAnswer {
  readonly #writer: ChannelWriter;
  #hasBegun = false;
  #isClosed = false;

  constructor(writer: ChannelWriter) {
    this.#writer = writer;
  }

  /** Whether anything was written or set. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** 200 by default; has no effect after the first `write`. */
  status(code: number): this {
    this.#order({ type: 'set_status', status_code: code });
    return this;
  }

  headers(headers: HttpHeaders): this {
    this.#order({ type: 'set_headers', headers });
    return this;
  }

  /** Sends a piece of the body. Resolves when the client has room for more; rejects when it has disconnected. */
  write(data: string | Uint8Array): Promise<void> {
    this.#hasBegun = true;
    return this.#writer.write(typeof data === 'string' ? ENCODER.encode(data) : data);
  }

  /** The body as a web stream; closing it ends the answer. */
  get stream(): WritableStream<Uint8Array | string> {
    return new WritableStream<Uint8Array | string>({
      write: (chunk) => this.write(chunk),
      close: () => this.close(),
      abort: () => this.abort(),
    });
  }

  /** Ends the answer after everything written. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hasBegun = true;
    await this.#writer.close();
  }

  /** Breaks off: the client sees that the answer is incomplete. */
  abort(): void {
    this.#isClosed = true;
    this.#writer.abort();
  }

  #order(order: object): void {
    this.#hasBegun = true;
    // A failure appears in the next `write` or in `close`.
    this.#writer.write(JSON.stringify(order)).catch(() => {});
  }
}

/**
 * A handler whose answer is written piece by piece. The answer ends with the handler. If the handler returns a reply
 * and writes nothing, the reply is sent as usual.
 *
 * @example
 * import { http, registerWorker, streamed } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const ticks = svc.registerFunction(
 *   'clock::ticks',
 *   streamed(async (_request, answer) => {
 *     answer.headers({ 'content-type': 'text/event-stream' });
 *     for (let tick = 0; tick < 3; tick++) await answer.write(`data: ${tick}\n\n`);
 *   }),
 * );
 * svc.registerTrigger({ ...http('GET', '/ticks'), function_id: ticks });
 */
export function streamed<Body = unknown>(
  handler: (
    request: HttpRequest<Body>,
    answer: HttpAnswer,
    context: HandlerContext,
    // biome-ignore lint/suspicious/noConfusingVoidType: a handler that only writes returns nothing.
  ) => Promise<HttpReply | undefined | void> | HttpReply | undefined | void,
): (request: HttpRequest<Body>, context: HandlerContext) => Promise<HttpReply | null> {
  return async (request, context) => {
    const answer = new HttpAnswer(request.response);
    // biome-ignore lint/suspicious/noConfusingVoidType: as above.
    let reply: HttpReply | undefined | void;
    try {
      reply = await handler(request, answer, context);
    } catch (error) {
      if (answer.hasBegun) answer.abort();
      throw error;
    }
    if (!answer.hasBegun) return reply ?? null;
    if (reply !== undefined) {
      answer.abort();
      throw new SvcError('INVALID_ARGUMENTS', 'the handler wrote its answer and returned another: do one of them');
    }
    await answer.close();
    return null;
  };
}

const ENCODER = new TextEncoder();
