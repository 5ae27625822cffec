// The error of a failed attempt: whether the job may be retried, and what is kept of the error.

import { parseRawJson } from '../../protocol/json/byte-string.ts';
import type { Outcome } from '../../router/calls/call.ts';

export interface JobError {
  readonly code: string;
  /** Code and message, limited to 4 KiB (Q10). */
  readonly text: string;
  /** The wait that the handler requests instead of the usual one. */
  readonly retryAfterMs: number | undefined;
}

/** Codes by which a handler controls its queue (SDK-6). */
export const FATAL_CODE = 'FATAL';
export const RETRY_LATER_CODE = 'RETRY_LATER';

const ERROR_BYTES_MAX = 4_096;
const RETRY_AFTER_MS_MAX = 30 * 86_400_000;

export function readJobError(error: NonNullable<Outcome['error']>): JobError {
  const text = error.asText();
  const body: unknown = text === undefined ? undefined : parseRawJson(text);
  const { code, message, after_ms: afterMs } = partsOf(body);
  const wordsOfCode = typeof code === 'string' ? code : 'invocation_failed';
  const isWait = typeof afterMs === 'number' && Number.isFinite(afterMs) && afterMs >= 0;
  return {
    code: wordsOfCode,
    text: cut(`${wordsOfCode}: ${typeof message === 'string' ? message : 'no message'}`),
    retryAfterMs:
      wordsOfCode === RETRY_LATER_CODE && isWait ? Math.min(Math.ceil(afterMs), RETRY_AFTER_MS_MAX) : undefined,
  };
}

function partsOf(body: unknown): { code?: unknown; message?: unknown; after_ms?: unknown } {
  return typeof body === 'object' && body !== null ? body : {};
}

/** Cuts without leaving half a character at the end. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= ERROR_BYTES_MAX) return text;
  let end = ERROR_BYTES_MAX;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
