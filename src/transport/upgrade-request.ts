// A request as `node:http` has parsed it, judged as uWebSockets.js would: requests that it refuses are refused, and the
// rest are passed on in the same form.

import type { IncomingMessage } from 'node:http';
import { answerPlain, type HttpAnswer, offeredSubprotocols, urlOffence } from './http-answer.ts';
import { fullAddress } from './peer-address.ts';
import type { UpgradeRequest } from './socket.ts';

/** Why a request is refused before its path or purpose counts. */
export function requestOffence(request: IncomingMessage): HttpAnswer | undefined {
  const { url = '', httpVersion, headersDistinct, rawHeaders } = request;
  if (httpVersion !== '1.1') return { status: 505, text: 'HTTP/1.1 is needed' };
  // Two of them could be read differently by two programs.
  if (headersDistinct.host?.length !== 1) return { status: 400, text: 'Bad Request' };
  // Node has a limit of its own, far above, beyond which it silently leaves headers out.
  const count = rawHeaders.length / 2;
  if (count > HEADERS_MAX) return { status: 431, text: `${count} headers; the limit is ${HEADERS_MAX}` };
  return urlOffence(url);
}

const HEADERS_MAX = 100;

/** Whether `ws` would accept it: a request that `admit` has let in must not fail any more. */
export function isWebSocketRequest({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    KEY.test(headers['sec-websocket-key'] ?? '')
  );
}

/** 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

export function answerWithoutUpgrade({ url = '' }: IncomingMessage): HttpAnswer {
  return answerPlain(splitUrl(url).path);
}

export function readUpgrade(request: IncomingMessage): UpgradeRequest {
  const { url = '', headersDistinct, socket } = request;
  const header = (name: string): string | undefined => headersDistinct[name]?.at(-1) || undefined;
  const list = (name: string): string | undefined => headersDistinct[name]?.join(', ');
  return {
    ...splitUrl(url),
    remoteAddress: fullAddress(socket.remoteAddress ?? ''),
    subprotocols: offeredSubprotocols(list('sec-websocket-protocol')),
    header,
    list,
    headers: () => new Map(Object.entries(headersDistinct).map(([name, values = []]) => [name, values.at(-1) ?? ''])),
  };
}

function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}
