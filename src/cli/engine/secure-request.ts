// HTTP requests of commands. `fetch` has no option for an authority, so requests over TLS do not use it.

import { type ClientRequest, request as plainRequest, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { TlsOptions } from '../../sdk/worker/options.ts';

export type Send = (url: URL, options: RequestOptions) => ClientRequest;

/** The function that sends a request. `tls`: undefined for addresses without TLS. */
export async function requester(tls: TlsOptions | undefined): Promise<Send> {
  if (tls === undefined) return plainRequest;
  const { connectionOptions } = await import('../../sdk/internal.ts');
  const secured = connectionOptions(tls);
  return (url, options) => secureRequest(url, { ...options, ...secured });
}

/** As `fetch` without redirects, over TLS. */
export async function fetchSecurely(url: URL, init: RequestInit, tls: TlsOptions): Promise<Response> {
  const { method = 'GET', headers, body, signal } = init;
  const send = await requester(tls);
  return await new Promise((resolve, reject) => {
    const sent = send(url, { method, headers: Object.fromEntries(new Headers(headers)), ...(signal && { signal }) });
    sent.once('error', (error) => reject(signal?.aborted ? signal.reason : error));
    sent.once('response', (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.once('error', reject);
      answer.once('end', () => {
        const { statusCode = 0, statusMessage = '', rawHeaders } = answer;
        const lines = new Headers();
        for (let at = 0; at < rawHeaders.length; at += 2) lines.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
        const text = statusCode === 204 || statusCode === 304 ? null : Buffer.concat(pieces);
        resolve(new Response(text, { status: statusCode, statusText: statusMessage, headers: lines }));
      });
    });
    sent.end(body);
  });
}
