// What the pure tables need to know of a worker connection. The router's session implements it.

export interface Executor {
  /** Rises with every connection the engine accepts and is never reused: ownership goes by it, never by name (W3). */
  readonly generation: number;
  /** Calls handed to it that have no result yet. */
  inFlight: number;
  readonly inFlightMax: number;
  /** False once it is closed, or while too much waits for it unread: nothing new may be handed to it. */
  readonly isAccepting: boolean;
}
