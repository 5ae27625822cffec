// The part of `ws` that the engine uses. No other file of the engine imports `ws`.

import { type Server, type ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { overlongReason } from '../server-frames.ts';

/** How a connection began to end, unless the engine closed it. */
export interface Ending {
  readonly code: number;
  /** The library closes it because the client broke a rule; otherwise the client sent a close frame. */
  readonly isOffence: boolean;
}

/**
 * The library reports an end when TCP is closed, which a client can delay. But it answers the client's close frame, and
 * protocol violations, with its own `close`: there the end is known at once. The contract tests check this.
 */
export class ServerWebSocket extends WebSocket {
  whenEnding: (ending: Ending) => void = () => {};
  offenceReason: (code: number) => string = () => '';

  override close(code?: number, data?: string | Buffer): void {
    // A close frame is answered with the client's own code and reason, as bytes, or with nothing if it had none.
    const isOffence = code !== undefined && data === undefined;
    super.close(code, isOffence ? this.offenceReason(code) : data);
    this.whenEnding({ code: code ?? NO_CODE, isOffence });
  }
}

export interface UpgradeLimits {
  readonly messageBytesMax: number;
  readonly fragmentsMax: number;
  /** The time for the client to answer the engine's close frame. */
  readonly goodbyeMs: number;
}

/** Turns a request into a WebSocket. It does not listen itself. */
export function createUpgrader(limits: UpgradeLimits): Server<typeof ServerWebSocket> {
  // The last two are newer than the published types.
  const options: LibraryOptions = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // The library stores the limit in 32 bits.
    maxPayload: Math.min(limits.messageBytesMax, 2 ** 31 - 1),
    maxFragments: limits.fragmentsMax,
    WebSocket: ServerWebSocket,
    closeTimeout: limits.goodbyeMs,
    maxPendingAutoPongs: UNSENT_PONGS_MAX,
  };
  return new WebSocketServer(options);
}

/** The close reason for a client that broke a rule, in the wording of the other transport where that has one. */
export function offenceReason(code: number, limits: UpgradeLimits): string {
  if (code === TOO_BIG) return overlongReason(limits.messageBytesMax);
  if (code === TOO_MANY_PARTS) return `a message has more than ${limits.fragmentsMax} fragments`;
  return '';
}

interface LibraryOptions extends ServerOptions<typeof ServerWebSocket> {
  readonly closeTimeout: number;
  readonly maxPendingAutoPongs: number;
}

/** A client that sends pings and reads nothing is cut off here. One read of the socket brings up to 11 000 pings. */
const UNSENT_PONGS_MAX = 12_000;

/** The code that means that none was given. */
const NO_CODE = 1005;
const TOO_MANY_PARTS = 1008;
const TOO_BIG = 1009;
