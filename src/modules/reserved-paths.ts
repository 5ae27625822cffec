// The paths below `/_console/` on the HTTP port. The HTTP module decides on admission (X3, X4) and passes requests on;
// the console module answers. Neither knows the other: they meet here.

import type { HttpExchange } from '../transport/http.ts';
import type { PeerSocket, SocketEvents } from '../transport/socket.ts';

export interface ReservedPathHandler {
  /** Answers the request, at once or later. */
  handle(exchange: HttpExchange): void;
  /** A live socket was opened. `isKnown`: its client need not show the token in its first frame. */
  connected(socket: PeerSocket, isKnown: boolean): SocketEvents;
}

/** The path of live sockets. */
export const LIVE_PATH = '/_console/v1/live';

export class ReservedPaths {
  #handler: ReservedPathHandler | undefined;

  /** `undefined`: no module serves paths below `/_console/`. */
  get handler(): ReservedPathHandler | undefined {
    return this.#handler;
  }

  offer(handler: ReservedPathHandler): void {
    this.#handler = handler;
  }
}
