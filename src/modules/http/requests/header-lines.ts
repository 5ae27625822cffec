// Look-ups in the headers of a request.

import type { HeaderLines } from '../../../transport/http.ts';

/** The first header of a name. */
export function headerOf(headers: HeaderLines, name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1];
  return undefined;
}

/** All headers of a name, in order. */
export function linesOf(headers: HeaderLines, name: string): string[] {
  return headers.filter((_value, at) => at % 2 === 1 && headers[at - 1] === name);
}
