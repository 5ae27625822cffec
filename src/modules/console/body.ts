// The body of a request, whole. What comes here is small by nature but for values; one limit for each and one for all.

import type { ByteBudget } from '../../core/byte-budget.ts';
import type { HttpExchange } from '../../transport/http.ts';
import { type ApiFailure, failure } from './failure.ts';

/** The largest value that a store takes, written in a JSON text with escapes, and what stands around it. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** `done` is told once, unless the peer leaves before. */
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
