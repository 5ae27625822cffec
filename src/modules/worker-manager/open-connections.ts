// The open connections of a port for browsers, so that all of them can be checked again when its configuration changes
// (X12).
//
// The policy on calls and registrations applies to open connections at once. A connection that would no longer be
// admitted, or that has a trigger which would be refused now, has to reconnect and authenticate again.

import type { RequestOrigin } from '../../core/access/origin.ts';
import { PROVE_AGAIN } from '../../protocol/frames/close-codes.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Guard } from '../../router/restricted/guard.ts';
import { mayStillBind } from '../../router/restricted/reach.ts';
import type { PeerSocket } from '../../transport/socket.ts';

export interface OpenConnection {
  readonly socket: PeerSocket;
  /** Of a worker connection: others only bring telemetry, or are the end of a channel. */
  readonly guard: Guard | undefined;
  /** The page that it comes from; `undefined`: none. */
  readonly site: RequestOrigin | undefined;
  /** Whether the port authenticates it: for an end of a channel its key is enough. */
  readonly isAuthenticated: boolean;
}

export class OpenConnections {
  readonly #router: RouterPort;
  readonly #connections = new Map<PeerSocket, OpenConnection>();

  constructor(router: RouterPort) {
    this.#router = router;
  }

  add(connection: OpenConnection): void {
    this.#connections.set(connection.socket, connection);
  }

  remove(socket: PeerSocket): void {
    this.#connections.delete(socket);
  }

  /** The rules of the port have changed. `mustReconnect`: which connections would no longer be admitted. */
  judge(mustReconnect: (connection: OpenConnection) => boolean): void {
    const connections = [...this.#connections.values()];
    const guards = new Set(connections.flatMap(({ guard }) => guard ?? []));
    const offenders = new Set<Guard>();
    for (const binding of this.#router.triggers()) {
      const guard = binding.owner?.guard;
      if (guard !== undefined && guards.has(guard) && !mayStillBind(binding)) offenders.add(guard);
    }
    const isOffender = ({ guard }: OpenConnection): boolean => guard !== undefined && offenders.has(guard);
    this.end(connections.filter((connection) => isOffender(connection) || mustReconnect(connection)));
  }

  end(connections: readonly OpenConnection[]): void {
    const guards = new Set(connections.flatMap(({ guard }) => guard ?? []));
    this.#router.revokeWhere(({ guard }) => guard !== undefined && guards.has(guard), REASON);
    for (const { socket, guard } of connections) {
      if (guard !== undefined) continue;
      this.#router.count('connections.closed', 'prove_again');
      socket.close(PROVE_AGAIN, REASON);
    }
  }
}

const REASON = 'the rules of this port have changed; connect again';
