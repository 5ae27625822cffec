// Runs one function of a thread and prints its result there: the router's thread passes the bytes on unread.

import { Refusal } from '../core/calls/refusal.ts';
import type { AskAnswer } from './tasks.ts';

/** Of a question; a larger one is a mistake of its caller. */
const PAYLOAD_BYTES_MAX = 64 * 1024;
/** An answer has to fit into a frame of 16 MiB, and into the caller's memory. */
const ANSWER_BYTES_MAX = 12 * 1024 * 1024;

export function answerWith(
  functionId: string,
  payload: Uint8Array | undefined,
  run: (given: unknown) => unknown,
): AskAnswer {
  try {
    return print(functionId, run(parse(functionId, payload)));
  } catch (error) {
    if (error instanceof Refusal) return { error: error.toBody() };
    throw error;
  }
}

function parse(functionId: string, payload: Uint8Array | undefined): unknown {
  if (payload === undefined || payload.length === 0) return null;
  if (payload.length > PAYLOAD_BYTES_MAX) {
    const text = `The payload for ${functionId} has ${payload.length} bytes; the limit is ${PAYLOAD_BYTES_MAX}`;
    throw new Refusal('PAYLOAD_TOO_LARGE', text);
  }
  try {
    return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString());
  } catch {
    throw new Refusal('BAD_REQUEST', `The payload for ${functionId} is not JSON`);
  }
}

function print(functionId: string, value: unknown): ArrayBuffer {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  if (bytes.length <= ANSWER_BYTES_MAX) return bytes.slice().buffer;
  const text = `The result of ${functionId} has ${bytes.length} bytes, over ${ANSWER_BYTES_MAX}: ask for less`;
  throw new Refusal('RESULT_TOO_LARGE', text);
}
