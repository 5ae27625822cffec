// The part of `ws` that the engine uses, and the one file of the engine that imports it.

import { type Server, type ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { overlongReason } from './http-answer.ts';

/** How a connection began to end, if not by our own word. */
export interface Ending {
  readonly code: number;
  /** The library closes it because the peer broke a rule; otherwise the peer said goodbye. */
  readonly isOffence: boolean;
}

/**
 * The library tells of an end when TCP is done with it, which a peer can put off. But it answers the peer's goodbye,
 * and breaches of the rules, with its own `close`: there the end is known at once. The contract tests hold it to that.
 */
export class ServerWebSocket extends WebSocket {
  whenEnding: (ending: Ending) => void = () => {};
  offenceReason: (code: number) => string = () => '';

  override close(code?: number, data?: string | Buffer): void {
    // A goodbye is answered with the peer's own words, as bytes, or with nothing if it said nothing.
    const isOffence = code !== undefined && data === undefined;
    super.close(code, isOffence ? this.offenceReason(code) : data);
    this.whenEnding({ code: code ?? NO_CODE, isOffence });
  }
}

export interface UpgradeLimits {
  readonly messageBytesMax: number;
  readonly fragmentsMax: number;
  /** For the peer to answer our goodbye. */
  readonly goodbyeMs: number;
}

/** What turns a request into a WebSocket. It listens nowhere itself. */
export function createUpgrader(limits: UpgradeLimits): Server<typeof ServerWebSocket> {
  // The last two are newer than the published types.
  const options: LibraryOptions = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // What the library counts in is 32 bits wide.
    maxPayload: Math.min(limits.messageBytesMax, 2 ** 31 - 1),
    maxFragments: limits.fragmentsMax,
    WebSocket: ServerWebSocket,
    closeTimeout: limits.goodbyeMs,
    maxPendingAutoPongs: UNSENT_PONGS_MAX,
  };
  return new WebSocketServer(options);
}

/** What to tell a peer that broke a rule, in the words of the other transport where that has any. */
export function offenceReason(code: number, limits: UpgradeLimits): string {
  if (code === TOO_BIG) return overlongReason(limits.messageBytesMax);
  if (code === TOO_MANY_PARTS) return `a message may come in at most ${limits.fragmentsMax} fragments`;
  return '';
}

interface LibraryOptions extends ServerOptions<typeof ServerWebSocket> {
  readonly closeTimeout: number;
  readonly maxPendingAutoPongs: number;
}

/** A peer that pings on and reads nothing is cut here. One read of the socket brings up to 11 000 pings. */
const UNSENT_PONGS_MAX = 12_000;

/** The code that stands for "none was given". */
const NO_CODE = 1005;
const TOO_MANY_PARTS = 1008;
const TOO_BIG = 1009;
