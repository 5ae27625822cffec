// WebSockets through the console server: `/api/live` to the engine's live socket, `/ws/stream/*` to the stream server.
// Frames pass unchanged. When one side closes, the other is closed.

import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { TOKEN_SUBPROTOCOL_PREFIX } from '../api/console-server.ts';
import type { LiveRequest } from '../api/live.ts';
import type { EngineAddress } from './engine-address.ts';
import type { Guard, Offence } from './guard.ts';
import { NEEDS_TOKEN } from './guard.ts';
import type { ConsoleOptions } from './options.ts';

const LIVE_PATH = '/api/live';
/** Of the engine. */
const LIVE_SOCKET_PATH = '/_console/v1/live';
const STREAM_PREFIX = '/ws/stream/';
const FRAME_BYTES_MAX = 8 * 1024 * 1024;
/** Frames that arrived before the other side was open. */
const HELD_BYTES_MAX = 256 * 1024;
/** Above this many unread bytes of a browser, no more is read for it. The engine then sends it gaps (LIV-5). */
const UNREAD_BYTES_MAX = 1024 * 1024;
const RESUME_CHECK_MS = 50;
const AUTH_MS_MAX = 10_000;

const TRY_AGAIN_LATER = 1013;
const UNAUTHORIZED = 4401;

export class SocketProxy {
  readonly #options: ConsoleOptions;
  readonly #engine: EngineAddress;
  readonly #guard: Guard;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES_MAX,
    // The token is not a subprotocol.
    handleProtocols: (offers) => [...offers].find((name) => !name.startsWith(TOKEN_SUBPROTOCOL_PREFIX)) ?? false,
  });

  constructor(options: ConsoleOptions, engine: EngineAddress, guard: Guard) {
    this.#options = options;
    this.#engine = engine;
    this.#guard = guard;
  }

  listen(server: Server): void {
    server.on('upgrade', (request, stream, head) => this.#take(request, stream, head));
  }

  stop(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  #take(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    // An error on a connection ends it, and both sides are notified.
    stream.on('error', () => {});
    const [path = ''] = (request.url ?? '').split('?');
    const isLive = path === LIVE_PATH;
    if (!isLive && !path.startsWith(STREAM_PREFIX)) return refuse(stream, NOT_FOUND);
    const foreign = this.#guard.placeOffence(request) ?? this.#guard.dataOffence(request);
    const offence = foreign ?? (isLive ? undefined : this.#guard.tokenOffence(request));
    if (offence !== undefined) return refuse(stream, offence);
    this.#server.handleUpgrade(request, stream, head, (browser) => {
      // From the first frame on: a broken frame may arrive before the token.
      browser.on('error', () => browser.terminate());
      if (isLive) this.#joinLive(browser, request);
      else this.#joinStream(browser, request);
    });
  }

  /** Where the token is required, the first frame contains it unless the header did. */
  #joinLive(browser: WebSocket, request: IncomingMessage): void {
    if (this.#guard.tokenOffence(request) === undefined) {
      this.#dialLive(browser);
      return;
    }
    const late = setTimeout(() => browser.close(UNAUTHORIZED, 'the token was not shown in time'), AUTH_MS_MAX);
    browser.once('close', () => clearTimeout(late));
    browser.once('message', (data) => {
      clearTimeout(late);
      if (this.#guard.isToken(tokenIn(data))) return this.#dialLive(browser);
      browser.send(JSON.stringify({ error: NEEDS_TOKEN.error }));
      browser.close(UNAUTHORIZED, 'the token is wrong');
    });
  }

  #joinStream(browser: WebSocket, request: IncomingMessage): void {
    const url = (request.url ?? '').slice('/ws'.length);
    const offers = (request.headers['sec-websocket-protocol'] ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith(TOKEN_SUBPROTOCOL_PREFIX));
    this.#join(
      browser,
      () => new WebSocket(`${this.#engine.streams}${url}`, offers, { ...DIAL, ...this.#engine.secured('streams') }),
      () => false,
    );
  }

  #dialLive(browser: WebSocket): void {
    const { token } = this.#options;
    const options = { ...DIAL, ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }) };
    const address = `${this.#engine.httpSocket}${LIVE_SOCKET_PATH}`;
    const dial = () => new WebSocket(address, { ...options, ...this.#engine.secured('http') });
    this.#join(browser, dial, takesAuth);
  }

  /** `isOurs`: frames of the browser that the engine does not get. */
  #join(browser: WebSocket, dial: () => WebSocket, isOurs: (data: RawData) => boolean): void {
    let engine: WebSocket;
    try {
      engine = dial();
    } catch {
      // The library refuses such an address, which a browser may have invented.
      browser.close(TRY_AGAIN_LATER, 'the engine has no such address');
      return;
    }
    join(browser, engine, isOurs);
  }
}

const DIAL = { handshakeTimeout: 5_000, maxPayload: FRAME_BYTES_MAX, perMessageDeflate: false };

/** The engine authenticates this server by its header. The browser's token is only for this server. */
function takesAuth(data: RawData): boolean {
  return tokenIn(data) !== undefined;
}

function tokenIn(data: RawData): string | undefined {
  try {
    const frame: Partial<LiveRequest> | null = JSON.parse(String(data));
    return frame?.op === 'auth' && 'token' in frame && typeof frame.token === 'string' ? frame.token : undefined;
  } catch {
    // It is not JSON, so it holds no token either.
    return undefined;
  }
}

function join(browser: WebSocket, engine: WebSocket, isOurs: (data: RawData) => boolean): void {
  const held: { data: RawData; isBinary: boolean }[] = [];
  let heldBytes = 0;
  browser.on('message', (data, isBinary) => {
    if (isOurs(data)) return;
    if (engine.readyState === WebSocket.OPEN) return engine.send(data, { binary: isBinary });
    heldBytes += String(data).length;
    if (heldBytes > HELD_BYTES_MAX) browser.close(TRY_AGAIN_LATER, 'too much before the engine answered');
    else held.push({ data, isBinary });
  });
  engine.on('open', () => {
    for (const { data, isBinary } of held.splice(0)) engine.send(data, { binary: isBinary });
  });
  engine.on('message', (data, isBinary) => {
    browser.send(data, { binary: isBinary });
    if (browser.bufferedAmount > UNREAD_BYTES_MAX) pauseUntilRead(browser, engine);
  });
  engine.on('close', (code, reason) => close(browser, code, reason));
  browser.on('close', (code, reason) => close(engine, code, reason));
  engine.on('error', () => close(browser, TRY_AGAIN_LATER, 'the engine does not answer'));
  browser.on('error', () => engine.terminate());
}

function pauseUntilRead(browser: WebSocket, engine: WebSocket): void {
  if (engine.isPaused) return;
  engine.pause();
  const check = setInterval(() => {
    const isOver = browser.readyState !== WebSocket.OPEN;
    if (!isOver && browser.bufferedAmount > UNREAD_BYTES_MAX / 2) return;
    clearInterval(check);
    engine.resume();
  }, RESUME_CHECK_MS);
}

function close(socket: WebSocket, code: number, reason: Buffer | string): void {
  if (socket.readyState === WebSocket.CONNECTING) return socket.terminate();
  // Codes that must not be sent mean an end without a close frame.
  const isSendable = code === 1000 || (code >= 1001 && code <= 1014 && ![1004, 1005, 1006].includes(code));
  socket.close(isSendable || code >= 3000 ? code : TRY_AGAIN_LATER, reason);
}

const NOT_FOUND: Offence = { status: 404, error: { code: 'NOT_FOUND', message: 'No WebSocket here' } };

function refuse(stream: Duplex, { status, error }: Offence): void {
  const body = JSON.stringify({ error });
  const head = `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-type: application/json`;
  stream.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
