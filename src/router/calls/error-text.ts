// Errors from other programs, in words. They may be any JSON, so values that are not text are never converted:
// converting an object of an untrusted client into a string can throw.

import { ERROR_TEXT_CHARS_MAX } from '../../protocol/frames/limits.ts';
import { byteStringToText, detach, parseRawJson, type RawJson } from '../../protocol/json/byte-string.ts';

/** Code and message on one line, where there are both. */
export function errorLine(error: RawJson): string {
  const { code, message } = fieldsOf(error);
  const text = typeof code === 'string' && typeof message === 'string' ? `${code}: ${message}` : errorText(error);
  return shortened(text);
}

/** The message. Without one, the error as it came. */
export function errorText(error: RawJson): string {
  const { message } = fieldsOf(error);
  return shortened(typeof message === 'string' ? message : byteStringToText(error));
}

/** Shortened and copied: it is kept with the trigger, and must not keep its frame in memory. */
function shortened(text: string): string {
  return detach(text.slice(0, ERROR_TEXT_CHARS_MAX));
}

function fieldsOf(error: RawJson): { readonly code?: unknown; readonly message?: unknown } {
  const value = parseRawJson(error);
  if (typeof value === 'string') return { message: value };
  return typeof value === 'object' && value !== null ? value : {};
}
