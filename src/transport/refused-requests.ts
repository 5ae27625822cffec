// Requests that the transport answers itself: because their end is ambiguous or they are over a limit (X14, guarantees
// 4), or because they reach a WebSocket port and get no WebSocket. Both transports apply this file after the checks of
// their libraries.

import { http } from '../effects/http-library.ts';
import type { ErrorCode } from '../protocol/frames/errors.ts';
import type { HeaderLines } from './http.ts';

export interface HttpFault {
  readonly status: number;
  readonly code: Extract<ErrorCode, 'BAD_REQUEST' | 'PAYLOAD_TOO_LARGE' | 'OVERLOADED' | 'TIMEOUT'>;
  readonly message: string;
}

/** The headers that describe the body of a request. */
export type Framing =
  | { readonly ok: true; readonly bodyBytes: number | undefined }
  | { readonly ok: false; readonly fault: HttpFault };

export const HEADERS_BYTES_MAX = 16 * 1024;
const URL_BYTES_MAX = 8 * 1024;
const HEADERS_MAX = 100;

/** `url`: path and query together. */
export function readFraming(method: string, urlBytes: number, headers: HeaderLines): Framing {
  if (urlBytes > URL_BYTES_MAX) {
    return tooLarge(414, `The URL has ${urlBytes} bytes; the limit is ${URL_BYTES_MAX}`);
  }
  if (headers.length > 2 * HEADERS_MAX) {
    return tooLarge(431, `There are ${headers.length / 2} headers; the limit is ${HEADERS_MAX}`);
  }
  let [hosts, length, encoding]: [number, string | undefined, string | undefined] = [0, undefined, undefined];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at];
    if (name === 'host') {
      hosts++;
    } else if (name === 'content-length') {
      if (length !== undefined) return malformed('Content-Length is given twice');
      length = headers[at + 1] ?? '';
    } else if (name === 'transfer-encoding') {
      if (encoding !== undefined) return malformed('Transfer-Encoding is given twice');
      encoding = headers[at + 1] ?? '';
    }
  }
  if (hosts !== 1) return malformed(`There are ${hosts} Host headers instead of one`);
  if (length === undefined && encoding === undefined) return NO_BODY;
  if (!isMethod(method)) return malformed('The method is not a word of capital letters');
  return encoding === undefined ? readLength(length ?? '') : readEncoding(encoding, length);
}

export function malformed(message: string): Framing & { ok: false } {
  return { ok: false, fault: { status: 400, code: 'BAD_REQUEST', message } };
}

export function tooLarge(status: 413 | 414 | 431, message: string): Framing & { ok: false } {
  return { ok: false, fault: { status, code: 'PAYLOAD_TOO_LARGE', message } };
}

/** The body of an answer to a fault, in the form of H3. */
export function faultBody({ code, message }: HttpFault): string {
  return JSON.stringify({ error: { code, message } });
}

/** The status code and its name. */
export function statusLine(status: number): string {
  let line = LINES.get(status);
  if (line === undefined) {
    const name = http().STATUS_CODES[status];
    line = name === undefined ? String(status) : `${status} ${name}`;
    LINES.set(status, line);
  }
  return line;
}

const LINES = new Map<number, string>();

const NO_BODY: Framing = { ok: true, bodyBytes: 0 };
const CHUNKED: Framing = { ok: true, bodyBytes: undefined };

function readLength(length: string): Framing {
  if (!/^\d{1,15}$/.test(length)) return malformed('Content-Length is not a number');
  return { ok: true, bodyBytes: Number(length) };
}

function readEncoding(encoding: string, length: string | undefined): Framing {
  if (length !== undefined) return malformed('Content-Length and Transfer-Encoding exclude each other');
  return encoding.toLowerCase() === 'chunked' ? CHUNKED : malformed("Transfer-Encoding must be 'chunked'");
}

function isMethod(method: string): boolean {
  return /^[A-Z]+$/.test(method);
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** The answer to a request that asks for no upgrade, or for an unknown one: these ports speak nothing else. */
export function answerPlain(path: string): HttpAnswer {
  if (path === '/' || path === '/otel' || path.startsWith('/stream/'))
    return { status: 426, text: 'This port speaks WebSocket' };
  return { status: 404, text: 'Not found' };
}

/** `url` is the path and the query, as received. */
export function urlOffence(url: string): HttpAnswer | undefined {
  if (url.length <= URL_BYTES_MAX) return undefined;
  return { status: 414, text: `The URL has ${url.length} bytes; the limit is ${URL_BYTES_MAX}` };
}

/** The names in a `Sec-WebSocket-Protocol` header, in the client's order of preference. */
export function offeredSubprotocols(header: string | undefined): readonly string[] {
  return header ? header.split(',').map((name) => name.trim()) : [];
}
