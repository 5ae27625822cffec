// What the pure tables need to know of a worker connection. The router's session implements it. Ownership is by the
// object, which is never used for another connection, and never by a name (W3).

export interface Executor {
  /** Calls handed to it that have no result yet. */
  inFlight: number;
  readonly inFlightMax: number;
  /** False once it is closed, or while too much waits for it unread: no new call may be handed to it. */
  readonly isAccepting: boolean;
}
