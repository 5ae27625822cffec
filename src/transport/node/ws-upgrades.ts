// Upgrade requests on `ws` and `node:http`: answered like in the other transport, and turned into connections.
//
// `ws` has no hook to decide which connections are accepted.
// Neighbours: `ws-transport.ts` has ports for WebSockets only, `node-http.ts` has one path for WebSockets; both bring
// the requests. `ws-peer.ts` is one connection.
// Invariants:
//   - A connected socket is in `#peers` until TCP has closed it.
//   - What `admit` lets in is reported as connected in the same step: it has taken a place that only `closed` gives
//     back.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { fullAddress } from '../../core/limits/client-address.ts';
import type { Clock } from '../../effects/clock.ts';
import { answerPlain, type HttpAnswer, offeredSubprotocols, statusLine, urlOffence } from '../refused-requests.ts';
import type { Admission, SocketOptions, UpgradeRequest } from '../socket.ts';
import { certificateOf } from './node-server.ts';
import { createUpgrader, offenceReason, type UpgradeLimits } from './ws-library.ts';
import { WsPeer } from './ws-peer.ts';

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
  const clientCertificate = certificateOf(socket);
  return {
    ...splitUrl(url),
    ...(clientCertificate !== undefined && { clientCertificate }),
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

const FRAGMENTS_MAX = 1_024;
const MESSAGE_MS_MAX = 30_000;
/** For a client that was sent a close frame: the time to read what is on its way to it, and to answer. */
const GOODBYE_MS_MAX = 10_000;
/** A message took too long, or too many pieces. */
const POLICY_VIOLATION = 1008;

/** What a connection that is not yet a WebSocket waits for, so that its port can keep the time. */
export type Waits = (stream: Socket, whom: 'for us' | 'for its peer' | 'no more') => void;

interface Upgrade {
  readonly request: IncomingMessage;
  /** Bytes that arrived after it in the same piece. */
  readonly head: Buffer;
  readonly asked: UpgradeRequest;
}

export class WsUpgrades {
  readonly #clock: Clock;
  readonly #options: SocketOptions;
  readonly #waits: Waits;
  readonly #limits: UpgradeLimits;
  readonly #upgrader: ReturnType<typeof createUpgrader>;
  readonly #peers = new Map<Socket, WsPeer>();

  constructor(clock: Clock, options: SocketOptions, waits: Waits) {
    this.#clock = clock;
    this.#options = options;
    this.#waits = waits;
    this.#limits = {
      messageBytesMax: options.frameBytesMax,
      fragmentsMax: FRAGMENTS_MAX,
      goodbyeMs: GOODBYE_MS_MAX,
    };
    this.#upgrader = createUpgrader(this.#limits);
  }

  take(request: IncomingMessage, head: Buffer): void {
    const stream = request.socket;
    // Gone already: the library would not upgrade it, and `connected` would never be followed by `closed`.
    if (!stream.readable || !stream.writable) {
      stream.destroy();
      return;
    }
    const offence = requestOffence(request);
    if (offence !== undefined || !isWebSocketRequest(request)) {
      refuse(stream, offence ?? answerWithoutUpgrade(request));
      return;
    }
    const asked = readUpgrade(request);
    const admission = this.#options.admit(asked);
    if (!('verdict' in admission)) {
      this.#answer({ request, head, asked }, admission);
      return;
    }
    // The request is complete: the code that makes the verdict limits its time.
    this.#waits(stream, 'for us');
    admission.verdict.then((verdict) => {
      if (!stream.readable || !stream.writable) {
        stream.destroy();
        admission.gone();
        return;
      }
      // From here on it has the usual time to read a refusal.
      this.#waits(stream, 'for its peer');
      this.#answer({ request, head, asked }, verdict);
    });
  }

  #answer({ request, head, asked: { path, remoteAddress } }: Upgrade, admission: Admission): void {
    const stream = request.socket;
    if (!admission.ok) {
      refuse(stream, admission);
      return;
    }
    const { subprotocol, connected = this.#options.connected } = admission;
    // The library chooses the first offered protocol that it finds.
    if (subprotocol === undefined) delete request.headers['sec-websocket-protocol'];
    else request.headers['sec-websocket-protocol'] = subprotocol;
    this.#upgrader.handleUpgrade(request, stream, head, (socket) => {
      socket.offenceReason = (code) => offenceReason(code, this.#limits);
      this.#waits(stream, 'no more');
      const peer = new WsPeer(socket, stream, this.#clock);
      this.#peers.set(stream, peer);
      stream.once('close', () => this.#peers.delete(stream));
      peer.attach(connected(peer, { path, remoteAddress, subprotocol }));
    });
  }

  /** To be called about twice a second: ends what is too slow. */
  check(nowMs: number): void {
    for (const peer of this.#peers.values()) {
      if (peer.messageAgeMs(nowMs) < MESSAGE_MS_MAX) continue;
      peer.close(POLICY_VIOLATION, `a message must be complete within ${MESSAGE_MS_MAX / 1_000} s`);
    }
  }

  close(): void {
    for (const peer of [...this.#peers.values()]) peer.terminate();
    for (const stream of this.#peers.keys()) stream.destroy();
  }
}

/** Without `node:http`, which has released the connection by now. The client has until UPGRADE_MS_MAX to read it. */
function refuse(stream: Socket, answer: HttpAnswer): void {
  stream.resume();
  stream.end(formatAnswer(answer));
}

export function formatAnswer({ status, text }: HttpAnswer): string {
  const headers = `content-type: text/plain\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(text)}`;
  return `HTTP/1.1 ${statusLine(status)}\r\n${headers}\r\n\r\n${text}`;
}
