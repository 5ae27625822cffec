// The whole body of a request. Bodies are small except for values. Each body has a limit, and so have all together.

import type { ByteBudget } from '../../../core/limits/byte-budget.ts';
import type { HttpExchange } from '../../../transport/http.ts';
import { type ApiFailure, failure } from '../facts/failure.ts';

/** The largest value that a store takes, written in JSON with escapes, plus the text around it. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** `done` is called once, unless the connection ends before. */
export function readBody(exchange: HttpExchange, budget: ByteBudget, done: (body: Buffer | ApiFailure) => void): void {
  const { bodyBytes } = exchange;
  if (bodyBytes === 0) return done(Buffer.alloc(0));
  if (bodyBytes !== undefined && bodyBytes > BODY_BYTES_MAX) return done(tooLarge());
  let chunks: Buffer[] = [];
  let taken = 0;
  let isOver = false;
  const end = (body: Buffer | ApiFailure | undefined): void => {
    if (isOver) return;
    isOver = true;
    budget.giveBack(taken);
    chunks = [];
    if (body !== undefined) done(body);
  };
  exchange.whenGone(() => end(undefined));
  exchange.readBody({
    chunk(bytes) {
      if (isOver) return;
      if (taken + bytes.length > BODY_BYTES_MAX) return end(tooLarge());
      if (!budget.take(bytes.length)) return end(failure('OVERLOADED', 'Too many large requests at a time'));
      taken += bytes.length;
      chunks.push(Buffer.from(bytes));
    },
    ended: () => end(Buffer.concat(chunks)),
  });
}

function tooLarge(): ApiFailure {
  return failure('PAYLOAD_TOO_LARGE', `The body is over the limit of ${BODY_BYTES_MAX} bytes`);
}
