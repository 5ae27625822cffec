// Errors that others sent, in words. They may be any JSON at all, so nothing is taken for text that is not: turning
// an object of a stranger into a string can throw.

import { byteStringToText, detach, parseRawJson, type RawJson } from '../protocol/byte-string.ts';
import { ERROR_TEXT_CHARS_MAX } from '../protocol/limits.ts';

/** Code and message on one line, where there are both. */
export function errorLine(error: RawJson): string {
  const { code, message } = fieldsOf(error);
  const text = typeof code === 'string' && typeof message === 'string' ? `${code}: ${message}` : errorText(error);
  return shortened(text);
}

/** The message; without one the error as it came. */
export function errorText(error: RawJson): string {
  const { message } = fieldsOf(error);
  return shortened(typeof message === 'string' ? message : byteStringToText(error));
}

/** Cut, and cut loose: it is kept with the trigger, and must not keep the frame it came in. */
function shortened(text: string): string {
  return detach(text.slice(0, ERROR_TEXT_CHARS_MAX));
}

function fieldsOf(error: RawJson): { readonly code?: unknown; readonly message?: unknown } {
  const value = parseRawJson(error);
  if (typeof value === 'string') return { message: value };
  return typeof value === 'object' && value !== null ? value : {};
}
