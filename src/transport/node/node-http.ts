// HTTP on `node:http`, for machines that uWebSockets.js has no binary for.
//
// The library parses strictly. This file adds the time limits (guarantees 4), which the library does not have, and the
// rules of `refused-requests.ts`.

import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bareHost } from '../../core/access/origin.ts';
import type { Clock } from '../../effects/clock.ts';
import { whilePortIsLocked } from '../port-lock.ts';
import { faultBody, HEADERS_BYTES_MAX, type HttpFault, readFraming, statusLine } from '../refused-requests.ts';
import type { TlsOptions } from '../tls.ts';
import type { HttpListenOptions } from '../transport.ts';
import { ListenError, type Listener, type PortSharing } from '../transport.ts';
import { NodeExchange } from './node-exchange.ts';
import { createNodeServer, isHandshaking, onConnection, prepareTlsOnNode } from './node-server.ts';
import { isWebSocketRequest, WsUpgrades } from './ws-upgrades.ts';

interface NodePort {
  readonly host: string;
  readonly port: number;
  readonly sharing?: PortSharing | undefined;
}

/** Returns the port, which the system chooses for 0. Rejects when the port cannot be opened. */
export async function listenOnNode(server: Server, options: NodePort): Promise<number> {
  const { host, port, sharing } = options;
  if (sharing !== 'first') return await listenTo(server, options);
  return await whilePortIsLocked(host, port, async () =>
    listenTo(server, { host, port: await freePortOf(options), sharing }),
  );
}

async function listenTo(server: Server, { host, port, sharing }: NodePort): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', () => reject(new ListenError(host, port)));
    server.listen({ host: bareHost(host), port, exclusive: true, reusePort: sharing !== undefined }, resolve);
  });
  // Without free file descriptors a new connection cannot be accepted: its client sees an error, and the open
  // connections stay open.
  server.on('error', () => {});
  return portOf(server, port);
}

/** The port, which no other process has. */
async function freePortOf({ host, port }: NodePort): Promise<number> {
  const alone = createServer();
  const found = await listenTo(alone, { host, port });
  await new Promise((resolve) => alone.close(resolve));
  return found;
}

function portOf(server: Server, fallback: number): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : fallback;
}

export async function serveOnNode(clock: Clock, options: HttpListenOptions): Promise<Listener> {
  const port = new NodeHttpPort(clock, options);
  await port.open();
  return port;
}

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 40_000;
const KEEP_ALIVE_MS_MAX = 30_000;
const CHECK_INTERVAL_MS = 1_000;

class NodeHttpPort implements Listener {
  readonly host: string;
  #port: number;
  readonly #clock: Clock;
  readonly #options: HttpListenOptions;
  readonly #server: Server;
  readonly #upgrades: WsUpgrades | undefined;
  readonly #connections = new Set<Socket>();
  /** Those of each open connection whose answers are not sent. */
  readonly #exchanges = new Map<Socket, Set<NodeExchange>>();
  /** The library still emits requests that arrived in one piece with a refused one: they must not be handled. */
  readonly #refusedStreams = new WeakSet<Socket>();
  #isClosing = false;
  #stopChecking: (() => void) | undefined;

  constructor(clock: Clock, options: HttpListenOptions) {
    this.host = options.host;
    this.#port = options.port;
    this.#clock = clock;
    this.#options = options;
    this.#upgrades = options.sockets && new WsUpgrades(clock, options.sockets, () => {});
    this.#server = this.#createServer();
  }

  /** Rejects when the port cannot be opened. */
  async open(): Promise<void> {
    this.#port = await listenOnNode(this.#server, this.#options);
    this.#stopChecking = this.#clock.every(CHECK_INTERVAL_MS, () => {
      for (const exchanges of [...this.#exchanges.values()]) {
        for (const exchange of [...exchanges]) exchange.check(this.#clock.monotonicMs());
      }
      this.#upgrades?.check(this.#clock.monotonicMs());
    });
  }

  get port(): number {
    return this.#port;
  }

  stopAccepting(): void {
    this.#isClosing = true;
    if (this.#server.listening) this.#server.close();
    this.#server.closeIdleConnections();
  }

  close(): void {
    this.stopAccepting();
    this.#stopChecking?.();
    this.#upgrades?.close();
    for (const stream of this.#connections) stream.destroy();
  }

  prepareTls(tls: TlsOptions): () => void {
    return prepareTlsOnNode(this.#server, tls);
  }

  #createServer(): Server {
    const options: NewerServerOptions = {
      maxHeaderSize: HEADERS_BYTES_MAX,
      headersTimeout: HEADERS_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      keepAliveTimeout: KEEP_ALIVE_MS_MAX,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      // The engine's own limit counts connections and answers those over it.
      requireHostHeader: false,
      // Any other request may name a protocol to upgrade to: it is answered as if it did not.
      shouldUpgradeCallback: (request) => this.#asksForSocket(request),
    };
    const { tls } = this.#options;
    const server = createNodeServer(options, tls, HEADERS_MS_MAX);
    server.on('upgrade', (request, stream, head) => {
      stream.setDefaultEncoding('utf8');
      this.#upgrades?.take(request, head);
    });
    // Beyond its own limit the library silently leaves headers out.
    server.maxHeadersCount = 0;
    server.on('connection', (stream) => {
      const { sharedConnections } = this.#options;
      this.#connections.add(stream);
      sharedConnections.note(this.#connections.size);
      stream.once('close', () => {
        this.#connections.delete(stream);
        sharedConnections.note(this.#connections.size);
      });
    });
    onConnection(server, tls, (stream) => {
      // A head without a body is sent in the stream's own encoding, and its characters are bytes already.
      stream.setDefaultEncoding('latin1');
      // Errors of a WebSocket's socket are handled here only: the close that follows carries the reason.
      stream.on('error', () => {});
      const exchanges = new Set<NodeExchange>();
      this.#exchanges.set(stream, exchanges);
      stream.once('close', () => {
        this.#exchanges.delete(stream);
        for (const exchange of exchanges) exchange.closed();
      });
    });
    server.on('request', (request, response) => this.#take(request, response));
    server.on('clientError', (error, stream) => {
      if (isHandshaking(stream)) {
        stream.destroy();
        return;
      }
      const fault = faultOf('code' in error ? String(error.code) : '');
      this.#options.refused(fault.status);
      if (stream.writable) stream.end(formatFault(fault));
      else stream.destroy();
    });
    return server;
  }

  #asksForSocket(request: IncomingMessage): boolean {
    const path = request.url?.split('?', 1)[0];
    return path !== undefined && path === this.#options.sockets?.path && isWebSocketRequest(request);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '', rawHeaders, socket } = request;
    if (this.#refusedStreams.has(socket)) return;
    const headers = rawHeaders.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text));
    const fault = this.#faultOf(request) ?? (url.startsWith('/') ? undefined : NOT_A_PATH);
    const framing = fault === undefined ? readFraming(method, url.length, headers) : ({ ok: false, fault } as const);
    if (!framing.ok) {
      this.#options.refused(framing.fault.status);
      this.#refusedStreams.add(socket);
      response.writeHead(framing.fault.status, { 'content-type': 'application/json', connection: 'close' });
      response.end(faultBody(framing.fault));
      return;
    }
    const exchange = new NodeExchange(request, response, {
      headers,
      bodyBytes: framing.bodyBytes,
      isClosing: () => this.#isClosing || this.#options.closesAfterAnswer(),
      unread: this.#options.unread,
      nowMs: this.#clock.monotonicMs(),
    });
    const exchanges = this.#exchanges.get(socket);
    exchanges?.add(exchange);
    response.once('close', () => exchanges?.delete(exchange));
    this.#options.request(exchange);
    exchange.passedToEngine();
  }

  #faultOf({ httpVersion }: IncomingMessage): HttpFault | undefined {
    if (httpVersion !== '1.1') return { status: 505, code: 'BAD_REQUEST', message: 'HTTP/1.1 is needed' };
    const { connectionsMax, sharedConnections } = this.#options;
    return this.#connections.size + sharedConnections.elsewhere > connectionsMax ? TOO_MANY : undefined;
  }
}

/** The callback is newer than the published types. */
interface NewerServerOptions extends ServerOptions {
  readonly shouldUpgradeCallback: (request: IncomingMessage) => boolean;
}

const TOO_MANY: HttpFault = {
  status: 503,
  code: 'OVERLOADED',
  message: 'This port is at its limit of connections',
};

const NOT_A_PATH: HttpFault = { status: 400, code: 'BAD_REQUEST', message: 'The target of a request is a path' };

function faultOf(code: string): HttpFault {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW': {
      const message = `All headers together exceed the limit of ${HEADERS_BYTES_MAX} bytes`;
      return { status: 431, code: 'PAYLOAD_TOO_LARGE', message };
    }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, code: 'TIMEOUT', message: 'The request was not complete in time' };
    default:
      return {
        status: 400,
        code: 'BAD_REQUEST',
        message: 'This is not an HTTP request, or it can be read in two ways',
      };
  }
}

/** Without `node:http`, which has released the connection by now. */
function formatFault(fault: HttpFault): string {
  const body = faultBody(fault);
  const headers = `content-type: application/json\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}`;
  return `HTTP/1.1 ${statusLine(fault.status)}\r\n${headers}\r\n\r\n${body}`;
}
