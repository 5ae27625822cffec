// WebSockets on uWebSockets.js: the route of a port that takes them, and one connection. `uws-transport.ts` has ports
// that speak nothing else, `uws-http.ts` has one path of its own for them.
//
// Traps the library sets, and what is done here: sending to a closed socket throws (guarded by `isOpen`); message
// bytes are valid only inside the callback (passed on as such); a socket's userData is shared with the library (the
// peer lives in a map of ours); a message over its limit ends the connection without a goodbye (the library's limit
// lies above ours, so that we can say it).

import type { ByteString } from '../protocol/byte-string.ts';
import { CLOSE_CODES } from '../protocol/close-codes.ts';
import { fitReason } from './close-reason.ts';
import { type HttpAnswer, offeredSubprotocols, overlongReason, statusLine, urlOffence } from './http-answer.ts';
import type { PreparedTexts } from './prepared-texts.ts';
import type {
  AcceptedRequest,
  Admission,
  PeerSocket,
  PendingAdmission,
  SocketEvents,
  SocketOptions,
  UpgradeRequest,
} from './socket.ts';
import { writeScratch } from './uws-bytes.ts';
import type { Uws, UwsApp, UwsRequest, UwsResponse, UwsSocket } from './uws-library.ts';

interface Peer {
  readonly socket: UwsPeerSocket;
  readonly events: SocketEvents;
  isOverlong: boolean;
}

/**
 * Answers upgrade requests for `pattern`; what is no upgrade goes on to the next handler. `upgraded`: a connection of
 * HTTP is one no more; the library does not tell of that otherwise.
 */
export function addWebSocketRoute(
  uws: Uws,
  app: UwsApp,
  pattern: string,
  options: SocketOptions,
  upgraded: () => void = () => {},
): void {
  const peers = new Map<UwsSocket, Peer>();
  app.ws(pattern, {
    maxPayloadLength: Math.min(OVERLONG_FACTOR * options.frameBytesMax, PAYLOAD_BYTES_MAX),
    maxBackpressure: options.bufferedBytesMax,
    closeOnBackpressureLimit: false,
    // Liveness is ours to judge (W1): the library counts only what it calls activity, in steps of four seconds. But its
    // time for a goodbye hangs on this: 12 to 16 s at the longest setting, and with none, the next step ends the
    // connection, at times before a peer that is still sending has read why.
    idleTimeout: IDLE_SECONDS_MAX,
    sendPingsAutomatically: true,
    compression: uws.DISABLED,
    upgrade(response, request, context) {
      upgrade(options, response, request, context);
    },
    open(socket) {
      upgraded();
      const peer = new UwsPeerSocket(socket);
      const { path, remoteAddress, subprotocol, connected } = socket.getUserData();
      const accepted: AcceptedRequest = { path, remoteAddress, subprotocol };
      const events = connected(peer, accepted);
      // If the engine closed it while being told, the library's close callback has been and gone.
      if (peer.isOpen) peers.set(socket, { socket: peer, events, isOverlong: false });
      else events.closed(ABNORMAL);
    },
    message(socket, message, isBinary) {
      const peer = peers.get(socket);
      if (peer === undefined) return;
      if (message.byteLength <= options.frameBytesMax) peer.events.message(new Uint8Array(message), isBinary);
      else closeOverlong(peer, options.frameBytesMax);
    },
    drain: (socket) => peers.get(socket)?.socket.noteDrain(),
    ping: (socket) => peers.get(socket)?.events.heard(),
    pong: (socket) => peers.get(socket)?.events.heard(),
    close(socket, code, reason) {
      const peer = peers.get(socket);
      if (peer === undefined) return;
      peers.delete(socket);
      peer.socket.markClosed();
      peer.events.closed(code, peer.isOverlong || Buffer.from(reason).toString('latin1') === OVERLONG_REASON);
    },
  });
}

/**
 * The library would cut the connection at its own limit, which a client cannot tell from a broken network: it would
 * send the same message again. Up to this many times our limit the message is taken in and answered with 1009.
 */
const OVERLONG_FACTOR = 2;

/** The longest the library knows. A peer that answers its pings is never ended for it. */
const IDLE_SECONDS_MAX = 960;

/** What the library can count. */
const PAYLOAD_BYTES_MAX = 2 ** 31 - 1;

/** The library's own words for a message beyond its limit. */
const OVERLONG_REASON = 'Received too big message';

function closeOverlong(peer: Peer, bytesMax: number): void {
  peer.isOverlong = true;
  peer.socket.close(CLOSE_CODES.messageTooBig, overlongReason(bytesMax));
}

function upgrade(options: SocketOptions, response: UwsResponse, request: UwsRequest, context: unknown): void {
  const offence = urlOffence(urlOf(request));
  if (offence !== undefined) {
    refuse(response, offence);
    return;
  }
  const asked = readRequest(response, request);
  const { path, remoteAddress } = asked;
  // The request is gone as soon as this function returns; the response stays until its peer leaves.
  const [key, extensions] = [request.getHeader('sec-websocket-key'), request.getHeader('sec-websocket-extensions')];
  const give = (admission: Admission): void => {
    if (!admission.ok) {
      refuse(response, admission);
      return;
    }
    const { subprotocol, connected = options.connected } = admission;
    response.upgrade({ path, remoteAddress, subprotocol, connected }, key, subprotocol ?? '', extensions, context);
  };
  const admission = options.admit(asked);
  if ('verdict' in admission) giveLater(admission, response, give);
  else give(admission);
}

function giveLater({ verdict, gone }: PendingAdmission, response: UwsResponse, give: (admission: Admission) => void) {
  let isHere = true;
  response.onAborted(() => {
    isHere = false;
    gone();
  });
  verdict.then((admission) => {
    if (isHere) response.cork(() => give(admission));
  });
}

function readRequest(response: UwsResponse, request: UwsRequest): UpgradeRequest {
  const linesOf = (wanted: string): string[] => {
    const lines: string[] = [];
    request.forEach((name, value) => {
      if (name === wanted) lines.push(value);
    });
    return lines;
  };
  const list = (name: string): string | undefined => {
    const lines = linesOf(name);
    return lines.length === 0 ? undefined : lines.join(', ');
  };
  return {
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    remoteAddress: Buffer.from(response.getRemoteAddressAsText()).toString('latin1'),
    subprotocols: offeredSubprotocols(list('sec-websocket-protocol')),
    // The library would give the first.
    header: (name) => linesOf(name).at(-1) || undefined,
    list,
    headers() {
      const headers = new Map<string, string>();
      request.forEach((name, value) => headers.set(name, value));
      return headers;
    },
  };
}

export function urlOf(request: UwsRequest): string {
  const query = request.getQuery();
  return query ? `${request.getUrl()}?${query}` : request.getUrl();
}

export function refuse(response: UwsResponse, { status, text }: HttpAnswer): void {
  response.writeStatus(statusLine(status)).writeHeader('content-type', 'text/plain').end(text, true);
}

class UwsPeerSocket implements PeerSocket {
  readonly #socket: UwsSocket;
  #tellDrained: (() => void) | undefined;
  isOpen = true;

  constructor(socket: UwsSocket) {
    this.#socket = socket;
  }

  get bufferedBytes(): number {
    return this.isOpen ? this.#socket.getBufferedAmount() : 0;
  }

  sendText(text: ByteString): boolean {
    if (!this.isOpen) return true;
    return this.#socket.send(writeScratch(text), false) !== SEND_DROPPED;
  }

  sendPrepared({ messages }: PreparedTexts): boolean {
    if (!this.isOpen) return true;
    const socket = this.#socket;
    const [first] = messages;
    if (messages.length === 1 && first !== undefined) return socket.send(first, false) !== SEND_DROPPED;
    let isComplete = true;
    socket.cork(() => {
      for (const message of messages) isComplete = socket.send(message, false) !== SEND_DROPPED && isComplete;
    });
    return isComplete;
  }

  sendBinary(bytes: Uint8Array): boolean {
    if (!this.isOpen) return true;
    return this.#socket.send(bytes, true) !== SEND_DROPPED;
  }

  cork(write: () => void): void {
    if (this.isOpen) this.#socket.cork(write);
  }

  whenDrained(told: () => void): void {
    this.#tellDrained = told;
  }

  /** Some of what waited was taken. */
  noteDrain(): void {
    const told = this.#tellDrained;
    if (told === undefined || this.bufferedBytes > 0) return;
    this.#tellDrained = undefined;
    if (this.isOpen) told();
  }

  ping(): void {
    if (this.isOpen) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.markClosed();
    this.#socket.end(code, fitReason(reason));
  }

  terminate(): void {
    if (!this.isOpen) return;
    this.markClosed();
    this.#socket.close();
  }

  markClosed(): void {
    this.isOpen = false;
  }
}

const SEND_DROPPED = 2;
const ABNORMAL = 1006;
