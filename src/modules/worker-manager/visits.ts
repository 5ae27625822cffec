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

export interface Visit {
  readonly socket: PeerSocket;
  /** Of a worker connection: others only bring telemetry, or are the end of a channel. */
  readonly guard: Guard | undefined;
  /** The page that it comes from; `undefined`: none. */
  readonly site: RequestOrigin | undefined;
  /** Whether the port authenticates it: for an end of a channel its key is enough. */
  readonly isGuest: boolean;
}

export class Visits {
  readonly #router: RouterPort;
  readonly #visits = new Map<PeerSocket, Visit>();

  constructor(router: RouterPort) {
    this.#router = router;
  }

  add(visit: Visit): void {
    this.#visits.set(visit.socket, visit);
  }

  remove(socket: PeerSocket): void {
    this.#visits.delete(socket);
  }

  /** The rules of the port have changed. `mustComeAgain`: which connections would no longer be admitted. */
  judge(mustComeAgain: (visit: Visit) => boolean): void {
    const visits = [...this.#visits.values()];
    const guards = new Set(visits.flatMap(({ guard }) => guard ?? []));
    const offenders = new Set<Guard>();
    for (const binding of this.#router.triggers()) {
      const guard = binding.owner?.guard;
      if (guard !== undefined && guards.has(guard) && !mayStillBind(binding)) offenders.add(guard);
    }
    const isOffender = ({ guard }: Visit): boolean => guard !== undefined && offenders.has(guard);
    this.end(visits.filter((visit) => isOffender(visit) || mustComeAgain(visit)));
  }

  end(visits: readonly Visit[]): void {
    const guards = new Set(visits.flatMap(({ guard }) => guard ?? []));
    this.#router.revokeWhere(({ guard }) => guard !== undefined && guards.has(guard), REASON);
    for (const { socket, guard } of visits) {
      if (guard !== undefined) continue;
      this.#router.count('connections.closed', 'prove_again');
      socket.close(PROVE_AGAIN, REASON);
    }
  }
}

const REASON = 'the rules of this port have changed; connect again';
