// What stands below `/_console/` on the HTTP port. The HTTP module judges who may come in (X3, X4) and hands on what it
// lets in; the console module answers. Neither knows the other: they meet here.

import type { HttpExchange } from '../transport/http.ts';
import type { PeerSocket, SocketEvents } from '../transport/socket.ts';

export interface ConsoleDoor {
  /** Answers the request, at once or later. */
  take(exchange: HttpExchange): void;
  /** A live socket was opened. `isKnown`: whoever opened it need not show the token in its first frame. */
  connected(socket: PeerSocket, isKnown: boolean): SocketEvents;
}

/** Where live sockets are opened. */
export const LIVE_PATH = '/_console/v1/live';

export class ReservedPaths {
  #door: ConsoleDoor | undefined;

  /** `undefined`: nobody offers anything below `/_console/`. */
  get door(): ConsoleDoor | undefined {
    return this.#door;
  }

  offer(door: ConsoleDoor): void {
    this.#door = door;
  }
}
