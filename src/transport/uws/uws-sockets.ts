// WebSockets on uWebSockets.js: the route of a port that takes them, and one connection. `uws-transport.ts` has ports
// for WebSockets only, `uws-http.ts` has one path for them.
//
// Traps of the library, and what is done here: sending to a closed socket throws (guarded by `isOpen`); message bytes
// are valid only inside the callback (passed on as such); a socket's userData is shared with the library (the
// connection is kept in a map of the engine); a message over the library's limit ends the connection without a close
// frame (that limit is above the engine's, which is answered with a close code); a response that is corked while it is
// upgraded may be cut (see `giveLater`).

import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import type { ByteString } from '../../protocol/json/byte-string.ts';
import { type HttpAnswer, offeredSubprotocols, statusLine, urlOffence } from '../refused-requests.ts';
import { fitReason, overlongReason, type PreparedTexts } from '../server-frames.ts';
import type {
  AcceptedRequest,
  Admission,
  PeerSocket,
  PendingAdmission,
  SocketEvents,
  SocketOptions,
  UpgradeRequest,
} from '../socket.ts';
import { UwsCallback } from './uws-callback.ts';
import {
  type Uws,
  type UwsApp,
  type UwsRequest,
  type UwsResponse,
  type UwsSocket,
  writeScratch,
} from './uws-library.ts';

interface Peer {
  readonly socket: UwsPeerSocket;
  readonly events: SocketEvents;
  isOverlong: boolean;
}

/** What all ports of one thread share. */
export class UwsThread {
  readonly uws: Uws;
  /** The open connections. */
  readonly peers = new Map<UwsSocket, Peer>();
  readonly callback: UwsCallback;

  constructor(uws: Uws) {
    this.uws = uws;
    this.callback = new UwsCallback(uws);
  }
}

/**
 * Answers upgrade requests for `pattern`; the next handler gets other requests. `upgraded`: a connection is no
 * longer an HTTP connection; the library does not report that otherwise.
 */
export function addWebSocketRoute(
  thread: UwsThread,
  app: UwsApp,
  pattern: string,
  options: SocketOptions,
  upgraded: () => void = () => {},
): void {
  const { uws, peers } = thread;
  app.ws(pattern, {
    maxPayloadLength: Math.min(OVERLONG_FACTOR * options.frameBytesMax, PAYLOAD_BYTES_MAX),
    maxBackpressure: options.bufferedBytesMax,
    closeOnBackpressureLimit: false,
    // The engine checks liveness itself (W1): the library counts only what it calls activity, in steps of four seconds.
    // But its time for a close frame depends on this setting: 12 to 16 s at the longest. Without it the next step ends
    // the connection, at times before a client that is still sending has read the reason.
    idleTimeout: IDLE_SECONDS_MAX,
    sendPingsAutomatically: true,
    compression: uws.DISABLED,
    upgrade(response, request, context) {
      upgrade(thread, options, response, request, context);
    },
    open(socket) {
      upgraded();
      const peer = new UwsPeerSocket(socket);
      const { path, remoteAddress, subprotocol, connected } = socket.getUserData();
      const accepted: AcceptedRequest = { path, remoteAddress, subprotocol };
      const events = connected(peer, accepted);
      // If the engine closed it during the callback, the library's close callback has already run.
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
 * The library would cut the connection at its own limit, which looks like a broken network to a client: it would
 * send the same message again. Messages up to this multiple of the engine's limit are received and answered with 1009.
 */
const OVERLONG_FACTOR = 2;

/** The library's maximum. A client that answers its pings is never ended by it. */
const IDLE_SECONDS_MAX = 960;

/** The library's largest count. */
const PAYLOAD_BYTES_MAX = 2 ** 31 - 1;

/** The library's own reason for a message beyond its limit. */
const OVERLONG_REASON = 'Received too big message';

function closeOverlong(peer: Peer, bytesMax: number): void {
  peer.isOverlong = true;
  peer.socket.close(CLOSE_CODES.messageTooBig, overlongReason(bytesMax));
}

function upgrade(
  thread: UwsThread,
  options: SocketOptions,
  response: UwsResponse,
  request: UwsRequest,
  context: unknown,
): void {
  const offence = urlOffence(urlOf(request));
  if (offence !== undefined) {
    refuse(response, offence);
    return;
  }
  const asked = readRequest(response, request);
  const { path, remoteAddress } = asked;
  // The request is invalid as soon as this function returns; the response stays until its client leaves.
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
  if ('verdict' in admission) giveLater(thread, admission, response, give);
  else give(admission);
}

/**
 * The library reads a response again after its cork, also when the response became a WebSocket: by then that memory is
 * free, and what is left in it may end the connection. It does not do so while another socket is corked.
 */
function giveLater(
  { peers, callback }: UwsThread,
  { verdict, gone }: PendingAdmission,
  response: UwsResponse,
  give: (admission: Admission) => void,
): void {
  let isHere = true;
  response.onAborted(() => {
    isHere = false;
    gone();
  });
  verdict.then((admission) => {
    if (!isHere) return;
    const [another] = peers.keys();
    if (!admission.ok) response.cork(() => give(admission));
    else if (another !== undefined) another.cork(() => response.cork(() => give(admission)));
    else callback.run(() => isHere && give(admission));
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
    // The library would return the first.
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
  #whenDrained: (() => void) | undefined;
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

  whenDrained(drained: () => void): void {
    this.#whenDrained = drained;
  }

  /** The socket took some of the waiting bytes. */
  noteDrain(): void {
    const drained = this.#whenDrained;
    if (drained === undefined || this.bufferedBytes > 0) return;
    this.#whenDrained = undefined;
    if (this.isOpen) drained();
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
