// Upgrade requests on `ws` and `node:http`: judged with the answers of the other transport, and made connections.
//
// `ws` has no say in whom to let in. Neighbours: `ws-transport.ts` has ports that speak nothing else, `node-http.ts`
// has one path for WebSockets; both bring the requests. `upgrade-request.ts` judges them, `ws-peer.ts` is one of them.
// Invariants:
//   T1  What is connected is in `#peers` until TCP has closed it.
//   T2  What `admit` lets in is told as connected in the same step: it has taken a place that only `closed` gives back.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../effects/clock.ts';
import { type HttpAnswer, statusLine } from './http-answer.ts';
import type { Admission, SocketOptions, UpgradeRequest } from './socket.ts';
import { answerWithoutUpgrade, isWebSocketRequest, readUpgrade, requestOffence } from './upgrade-request.ts';
import { createUpgrader, offenceReason, type UpgradeLimits } from './ws-library.ts';
import { WsPeer } from './ws-peer.ts';

const FRAGMENTS_MAX = 1_024;
const MESSAGE_MS_MAX = 30_000;
/** For a peer that we have said goodbye to: to read what is on its way to it, and to answer. */
const GOODBYE_MS_MAX = 10_000;
/** A message took too long, or too many pieces. */
const POLICY_VIOLATION = 1008;

/** Whom a connection that is not yet a WebSocket waits for, so that its port can keep the time. */
export type Waits = (stream: Socket, whom: 'for us' | 'for its peer' | 'no more') => void;

interface Upgrade {
  readonly request: IncomingMessage;
  /** What came behind it in the same piece. */
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
    // The library chooses the first that it finds.
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

  /** To be called twice a second or so: ends what is too slow. */
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

/** Without `node:http`, which has let go of the connection by now. Its peer has until UPGRADE_MS_MAX to read it. */
function refuse(stream: Socket, answer: HttpAnswer): void {
  stream.resume();
  stream.end(formatAnswer(answer));
}

export function formatAnswer({ status, text }: HttpAnswer): string {
  const headers = `content-type: text/plain\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(text)}`;
  return `HTTP/1.1 ${statusLine(status)}\r\n${headers}\r\n\r\n${text}`;
}
