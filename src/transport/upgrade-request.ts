// A request as `node:http` has read it, judged as uWebSockets.js would: what that refuses is refused, and the rest is
// handed on in the same form.

import type { IncomingMessage } from 'node:http';
import { answerPlain, type HttpAnswer, offeredSubprotocols, urlOffence } from './http-answer.ts';
import { fullAddress } from './peer-address.ts';
import type { UpgradeRequest } from './socket.ts';

/** Why a request gets nothing at all, whatever it asks for. */
export function requestOffence(request: IncomingMessage): HttpAnswer | undefined {
  const { url = '', httpVersion, headersDistinct, rawHeaders } = request;
  if (httpVersion !== '1.1') return { status: 505, text: 'HTTP/1.1 is needed' };
  // With two of them, whoever reads the other one is led astray.
  if (headersDistinct.host?.length !== 1) return { status: 400, text: 'Bad Request' };
  // Node has a limit of its own, far above, beyond which it leaves headers out without a word.
  const count = rawHeaders.length / 2;
  if (count > HEADERS_MAX) return { status: 431, text: `${count} headers; at most ${HEADERS_MAX} are taken` };
  return urlOffence(url);
}

const HEADERS_MAX = 100;

/** Whether `ws` would accept it: what `admit` has let in must not fail any more. */
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
