// A request of the request builder as text that can be run (APP-10), and the headers of every request that it sends.

import type { HttpRequest } from '../../../../../console-api/console-server.ts';
import { shellQuote } from '../../../kit/inputs/call-text.ts';

export const WITH_BODY: readonly string[] = ['POST', 'PUT', 'PATCH'];

export function asHttpCurl({ method, path, headers, body }: HttpRequest, httpUrl: string): string {
  const words = ['curl', '-sS', '-i', '-X', method];
  for (const [name, value] of headers) words.push('-H', `${name}: ${value}`);
  if (body !== undefined) words.push('--data-raw', body);
  words.push(`${httpUrl}${path}`);
  return words.map(shellQuote).join(' ');
}

export function asFetch({ method, path, headers, body }: HttpRequest, httpUrl: string): string {
  const init = [`method: ${JSON.stringify(method)}`];
  if (headers.length > 0) init.push(`headers: ${JSON.stringify(headers)}`);
  if (body !== undefined) init.push(`body: ${JSON.stringify(body)}`);
  const lines = init.map((member) => `  ${member},\n`).join('');
  return `const response = await fetch(${JSON.stringify(`${httpUrl}${path}`)}, {
${lines}});
console.log(response.status, await response.text());
`;
}

/** The trace id is chosen before the request, so that the trace of the answer can be opened. */
export function newTrace(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): { id: string; header: string } {
  const hex = (length: number): string =>
    [...random(new Uint8Array(length))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const id = hex(16);
  return { id, header: `00-${id}-${hex(8)}-01` };
}
