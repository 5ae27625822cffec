// WebSockets on `ws` and `node:http`: for machines that uWebSockets.js has no binary for.
//
// Job: accept connections, and keep the limits that the other library keeps itself (guarantees 4). `ws` has no say in
// whom to let in: a request is judged here, with the answers of the other transport.
// Neighbours: `upgrade-request.ts` judges requests, `ws-peer.ts` is one connection.
// Invariants:
//   T1  A connection is in `#strangers` until it is a WebSocket, then in `#peers` until TCP has closed it.
//   T2  What `admit` lets in is told as connected in the same step: it has taken a place that only `closed` gives back.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../effects/clock.ts';
import { type HttpAnswer, statusLine } from './http-answer.ts';
import { serveOnNode } from './node-http.ts';
import {
  type Admission,
  ListenError,
  type Listener,
  type ListenOptions,
  type Transport,
  type UpgradeRequest,
} from './socket.ts';
import { answerWithoutUpgrade, isWebSocketRequest, readUpgrade, requestOffence } from './upgrade-request.ts';
import { createUpgrader, offenceReason, type UpgradeLimits } from './ws-library.ts';
import { WsPeer } from './ws-peer.ts';

export function createWsTransport(clock: Clock): Transport {
  return {
    name: 'ws',
    async listen(options) {
      const listener = new WsListener(clock, options);
      await listener.open();
      return listener;
    },
    serve: (options) => serveOnNode(clock, options),
  };
}

const HEADERS_BYTES_MAX = 16 * 1024;
/** From TCP to the complete request. It is stricter than the 10 s that the headers of any request may take. */
const UPGRADE_MS_MAX = 5_000;
const FRAGMENTS_MAX = 1_024;
const MESSAGE_MS_MAX = 30_000;
/** For a peer that we have said goodbye to: to read what is on its way to it, and to answer. */
const GOODBYE_MS_MAX = 10_000;
const CHECK_INTERVAL_MS = 500;
/** A message took too long, or too many pieces. */
const POLICY_VIOLATION = 1008;

interface Upgrade {
  readonly request: IncomingMessage;
  /** What came behind it in the same piece. */
  readonly head: Buffer;
  readonly asked: UpgradeRequest;
}

class WsListener implements Listener {
  readonly host: string;
  #port: number;
  readonly #clock: Clock;
  readonly #options: ListenOptions;
  readonly #limits: UpgradeLimits;
  readonly #upgrader: ReturnType<typeof createUpgrader>;
  readonly #server: Server;
  /** When each of them came. */
  readonly #strangers = new Map<Socket, number>();
  readonly #peers = new Map<Socket, WsPeer>();
  #stopChecking: (() => void) | undefined;

  constructor(clock: Clock, options: ListenOptions) {
    this.host = options.host;
    this.#port = options.port;
    this.#clock = clock;
    this.#options = options;
    this.#limits = {
      messageBytesMax: options.frameBytesMax,
      fragmentsMax: FRAGMENTS_MAX,
      goodbyeMs: GOODBYE_MS_MAX,
    };
    this.#upgrader = createUpgrader(this.#limits);
    this.#server = this.#createServer();
  }

  /** Rejects when the port cannot be had. */
  async open(): Promise<void> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', () => reject(new ListenError(host, port)));
      this.#server.listen({ host, port, exclusive: true }, resolve);
    });
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
    // Out of files, a new connection cannot be accepted: its peer sees that, and the open ones go on.
    this.#server.on('error', () => {});
    this.#stopChecking = this.#clock.every(CHECK_INTERVAL_MS, () => this.#check());
  }

  get port(): number {
    return this.#port;
  }

  stopAccepting(): void {
    if (this.#server.listening) this.#server.close();
  }

  close(): void {
    this.stopAccepting();
    this.#stopChecking?.();
    for (const peer of [...this.#peers.values()]) peer.terminate();
    for (const stream of [...this.#strangers.keys(), ...this.#peers.keys()]) stream.destroy();
  }

  #createServer(): Server {
    const server = createServer({
      maxHeaderSize: HEADERS_BYTES_MAX,
      // Both are covered by UPGRADE_MS_MAX.
      headersTimeout: 0,
      requestTimeout: 0,
    });
    server.on('connection', (stream) => this.#accept(stream));
    server.on('request', (request, response) => {
      respond(response, requestOffence(request) ?? answerWithoutUpgrade(request));
    });
    server.on('upgrade', (request, _stream, head) => this.#upgrade(request, head));
    server.on('clientError', (error, stream) => {
      const isTooLong = 'code' in error && error.code === 'HPE_HEADER_OVERFLOW';
      const answer = isTooLong
        ? { status: 431, text: `All headers together may have at most ${HEADERS_BYTES_MAX} bytes` }
        : { status: 400, text: 'Bad Request' };
      if (stream.writable) stream.end(formatAnswer(answer));
      else stream.destroy();
    });
    return server;
  }

  #accept(stream: Socket): void {
    this.#strangers.set(stream, this.#clock.monotonicMs());
    // The close that follows says what there is to say.
    stream.on('error', () => {});
    stream.once('close', () => {
      this.#strangers.delete(stream);
      this.#peers.delete(stream);
    });
  }

  #upgrade(request: IncomingMessage, head: Buffer): void {
    const stream = request.socket;
    // Gone already: the library would not connect it (T2).
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
    // It is complete: how long the verdict may take is for whoever makes it.
    this.#strangers.set(stream, Number.POSITIVE_INFINITY);
    admission.verdict.then((verdict) => {
      if (!stream.readable || !stream.writable) {
        stream.destroy();
        admission.gone();
        return;
      }
      // From here on it has the usual time to read a refusal.
      this.#strangers.set(stream, this.#clock.monotonicMs());
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
    // The library chooses the first that it finds.
    if (subprotocol === undefined) delete request.headers['sec-websocket-protocol'];
    else request.headers['sec-websocket-protocol'] = subprotocol;
    this.#upgrader.handleUpgrade(request, stream, head, (socket) => {
      socket.offenceReason = (code) => offenceReason(code, this.#limits);
      this.#strangers.delete(stream);
      const peer = new WsPeer(socket, stream, this.#clock);
      this.#peers.set(stream, peer);
      peer.tell(connected(peer, { path, remoteAddress, subprotocol }));
    });
  }

  #check(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [stream, sinceMs] of this.#strangers) {
      if (nowMs - sinceMs >= UPGRADE_MS_MAX) stream.destroy();
    }
    for (const peer of this.#peers.values()) {
      if (peer.messageAgeMs(nowMs) < MESSAGE_MS_MAX) continue;
      peer.close(POLICY_VIOLATION, `a message must be complete within ${MESSAGE_MS_MAX / 1_000} s`);
    }
  }
}

function respond(response: ServerResponse, { status, text }: HttpAnswer): void {
  const headers = { 'content-type': 'text/plain', connection: 'close', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, headers).end(text);
}

/** Without `node:http`, which has let go of the connection by now. Its peer has until UPGRADE_MS_MAX to read it. */
function refuse(stream: Socket, answer: HttpAnswer): void {
  stream.resume();
  stream.end(formatAnswer(answer));
}

function formatAnswer({ status, text }: HttpAnswer): string {
  const headers = `content-type: text/plain\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(text)}`;
  return `HTTP/1.1 ${statusLine(status)}\r\n${headers}\r\n\r\n${text}`;
}
