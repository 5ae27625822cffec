// Which headers of a handler reach the client, and in what form (X14).

import type { HeaderLines } from '../../../transport/http.ts';

export type HeaderCheck =
  | { readonly ok: true; readonly lines: HeaderLines; readonly contentType: string | undefined }
  | { readonly ok: false; readonly reason: string };

const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Headers of the connection, which the transport sets. */
const DROPPED = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A map, or a list of `Name: value`; a value may be a list, for headers that are repeated. */
export function checkHeaders(headers: unknown): HeaderCheck {
  if (headers === undefined || headers === null) return { ok: true, lines: [], contentType: undefined };
  if (typeof headers !== 'object') return { ok: false, reason: 'headers is neither a map nor a list' };
  const lines: string[] = [];
  let contentType: string | undefined;
  for (const [given, value] of Array.isArray(headers) ? headers.map(splitLine) : Object.entries(headers)) {
    if (!NAME.test(given)) return { ok: false, reason: `a header has the name ${JSON.stringify(given.slice(0, 64))}` };
    const name = given.toLowerCase();
    for (const item of Array.isArray(value) ? value : [value]) {
      const text = typeof item === 'number' || typeof item === 'boolean' ? String(item) : item;
      if (typeof text !== 'string') return { ok: false, reason: `the header ${given} has a value that is not text` };
      if (CONTROL.test(text)) return { ok: false, reason: `the header ${given} has a control character in its value` };
      if (DROPPED.has(name)) continue;
      if (name === 'content-type') contentType = text;
      lines.push(name, text.trim());
    }
  }
  return { ok: true, lines, contentType };
}

function splitLine(line: unknown): readonly [string, unknown] {
  if (typeof line !== 'string') return ['', line];
  const colon = line.indexOf(':');
  return colon < 0 ? ['', line] : [line.slice(0, colon), line.slice(colon + 1).trim()];
}
