// What carries frames between this engine and others. `nats/carrier.ts` does it over NATS.
//
// A link delivers frames in the order in which they were sent, each once, or ends. Nothing is sent twice, so the owner
// of a link settles what was in flight when it ends.

import type { MessageBuffer } from '../protocol/binary/binary-messages.ts';

export interface LinkEvents {
  /** Frames can be sent from now on, and may arrive. */
  up(): void;
  /** What was sent and not answered may have been lost. */
  down(reason: string): void;
  /** Whole frames, in the order in which they were sent. The bytes are valid until the call returns. */
  frames(bytes: Buffer): void;
}

export interface Link {
  readonly isUp: boolean;
  /** Why it is down. */
  readonly trouble: string;
  /** Whether a new call may be sent. Results always may. */
  readonly hasRoom: boolean;
  /** The other engine reports that it is draining. */
  readonly isDraining: boolean;
  /** Calls that the other engine had in flight when it last reported. */
  readonly callsInFlight: number;
  /** Ends the session, because what the other engine sent makes no sense. */
  refuse(reason: string): void;
  /** Where to write frames, which leave at the end of the turn; `undefined` while it is down. */
  open(): MessageBuffer | undefined;
}

export interface Carrier {
  /** Reaches for an engine, again and again until `disconnect`. */
  connect(engineId: string, events: LinkEvents): Link;
  disconnect(engineId: string): void;
  /** Informs all other engines at once that this one drains. */
  announceDraining(): void;
}
