// Upgrade requests on `ws` and `node:http`: answered like in the other transport, and turned into connections.
//
// `ws` has no hook to decide which connections are accepted.
// Neighbours: `ws-transport.ts` has ports for WebSockets only, `node-http.ts` has one path for WebSockets; both bring
// the requests. `upgrade-request.ts` checks them, `ws-peer.ts` is one connection.
// Invariants:
//   - A connected socket is in `#peers` until TCP has closed it.
//   - What `admit` lets in is reported as connected in the same step: it has taken a place that only `closed` gives
//     back.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../effects/clock.ts';
import { type HttpAnswer, statusLine } from '../http-answer.ts';
import type { Admission, SocketOptions, UpgradeRequest } from '../socket.ts';
import { answerWithoutUpgrade, isWebSocketRequest, readUpgrade, requestOffence } from '../upgrade-request.ts';
import { createUpgrader, offenceReason, type UpgradeLimits } from './ws-library.ts';
import { WsPeer } from './ws-peer.ts';

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
      peer.tell(connected(peer, { path, remoteAddress, subprotocol }));
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
