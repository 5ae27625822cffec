// WebSockets on `ws` and `node:http`, for machines that uWebSockets.js has no binary for.
//
// Job: accept connections, and keep the limits that the other library keeps itself (guarantees 4).
// Neighbours: `ws-upgrades.ts` makes WebSockets of requests.
// Invariant:
//   - A connection is in `#pending` until it is a WebSocket.

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as NetServer } from 'node:net';
import type { Clock } from '../../effects/clock.ts';
import type { HttpAnswer } from '../refused-requests.ts';
import type { TlsOptions } from '../tls.ts';
import type { Listener, ListenOptions, Transport } from '../transport.ts';
import { listenOnNode, serveOnNode } from './node-http.ts';
import { createNodeServer, isHandshaking, onConnection, prepareTlsOnNode } from './node-server.ts';
import { answerWithoutUpgrade, formatAnswer, requestOffence, WsUpgrades } from './ws-upgrades.ts';

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
/** From TCP, or from the end of the TLS handshake, to the complete request: stricter than the 10 s for any request. */
const UPGRADE_MS_MAX = 5_000;
const CHECK_INTERVAL_MS = 500;

class WsListener implements Listener {
  readonly host: string;
  #port: number;
  readonly #clock: Clock;
  readonly #options: ListenOptions;
  readonly #upgrades: WsUpgrades;
  readonly #server: Server;
  /** When each of them connected. */
  readonly #pending = new Map<Socket, number>();
  /** All of TCP; with TLS, `#pending` has the streams on top of them. */
  readonly #connections = new Set<Socket>();
  #stopChecking: (() => void) | undefined;

  constructor(clock: Clock, options: ListenOptions) {
    this.host = options.host;
    this.#port = options.port;
    this.#clock = clock;
    this.#options = options;
    this.#upgrades = new WsUpgrades(clock, options, (stream, whom) => {
      if (whom === 'no more') this.#pending.delete(stream);
      // The request is complete: the code that makes the verdict limits its time.
      else this.#pending.set(stream, whom === 'for us' ? Number.POSITIVE_INFINITY : clock.monotonicMs());
    });
    this.#server = this.#createServer();
  }

  /** Rejects when the port cannot be opened. */
  async open(): Promise<void> {
    this.#port = await listenOnNode(this.#server, this.#options);
    this.#stopChecking = this.#clock.every(CHECK_INTERVAL_MS, () => this.#check());
  }

  get port(): number {
    return this.#port;
  }

  stopAccepting(): void {
    // That of HTTP also ends connections that have not sent a request yet (G1).
    if (this.#server.listening) NetServer.prototype.close.call(this.#server);
  }

  close(): void {
    this.stopAccepting();
    this.#stopChecking?.();
    this.#upgrades.close();
    for (const stream of this.#connections) stream.destroy();
  }

  prepareTls(tls: TlsOptions): () => void {
    return prepareTlsOnNode(this.#server, tls);
  }

  #createServer(): Server {
    const { tls } = this.#options;
    const options = {
      maxHeaderSize: HEADERS_BYTES_MAX,
      // Both are covered by UPGRADE_MS_MAX.
      headersTimeout: 0,
      requestTimeout: 0,
    };
    const server = createNodeServer(options, tls, UPGRADE_MS_MAX);
    server.on('connection', (stream) => {
      this.#connections.add(stream);
      stream.once('close', () => this.#connections.delete(stream));
    });
    onConnection(server, tls, (stream) => this.#accept(stream));
    server.on('request', (request, response) => {
      respond(response, requestOffence(request) ?? answerWithoutUpgrade(request));
    });
    server.on('upgrade', (request, _stream, head) => this.#upgrades.take(request, head));
    server.on('clientError', (error, stream) => {
      if (isHandshaking(stream)) {
        stream.destroy();
        return;
      }
      const isTooLong = 'code' in error && error.code === 'HPE_HEADER_OVERFLOW';
      const answer = isTooLong
        ? { status: 431, text: `All headers together exceed the limit of ${HEADERS_BYTES_MAX} bytes` }
        : { status: 400, text: 'Bad Request' };
      if (stream.writable) stream.end(formatAnswer(answer));
      else stream.destroy();
    });
    return server;
  }

  #accept(stream: Socket): void {
    this.#pending.set(stream, this.#clock.monotonicMs());
    // The close that follows carries the reason.
    stream.on('error', () => {});
    stream.once('close', () => this.#pending.delete(stream));
  }

  #check(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [stream, sinceMs] of this.#pending) {
      if (nowMs - sinceMs >= UPGRADE_MS_MAX) stream.destroy();
    }
    this.#upgrades.check(nowMs);
  }
}

function respond(response: ServerResponse, { status, text }: HttpAnswer): void {
  const headers = { 'content-type': 'text/plain', connection: 'close', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, headers).end(text);
}
