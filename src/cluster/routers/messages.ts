// What the routers of one process say to each other besides calls, as control frames. JSON of users is text in them.

import type { ReservedKind } from '../../core/access/reservations.ts';

export type RouterMessage =
  | RouterHello
  | RouterMember
  | RouterEntry
  | RouterSeen
  | RouterTurn
  | RouterWorker
  | RouterHanded
  | RouterReservation
  | RouterVerdict
  | RouterInheritance
  | ModulesOfHome;

/** The first message of a line. */
export interface RouterHello {
  readonly kind: 'hello';
  /** What the ids of its channels end with. */
  readonly channels: string;
}

/** The router that sends it has that id in the cluster from now on. */
export interface RouterMember {
  readonly kind: 'member';
  readonly id: string;
}

/** A registration on the router that sends it, as a bucket would report it. */
export interface RouterEntry {
  readonly kind: 'entry';
  readonly key: string;
  /** Absent: it is gone. */
  readonly value?: string;
  readonly revision: number;
}

/** How many entries the router that sends it has entered into its tables. */
export interface RouterSeen {
  readonly kind: 'seen';
  readonly entries: number;
}

/** A question that is answered after a turn of the other router, with `isOver`: what had arrived there is handled. */
export interface RouterTurn {
  readonly kind: 'turn';
  readonly number: number;
  readonly isOver?: true;
}

/** A connection of the router that sends it. */
export interface RouterWorker {
  readonly kind: 'worker';
  readonly id: string;
  /** Absent: it is gone. */
  readonly name?: string;
  readonly address?: string;
}

/** A call of the router that gets this has gone to that worker. */
export interface RouterHanded {
  readonly kind: 'handed';
  readonly slot: number;
  readonly generation: number;
  readonly worker: string;
}

/** A trusted connection uses the name: no restricted one may take it. */
export interface RouterReservation {
  readonly kind: 'reservation';
  readonly of: ReservedKind;
  readonly name: string;
  /** It is open to them again. */
  readonly isReleased?: true;
}

/** A connection of the router that sends it has moved: its ids are kept for where it is now. */
export interface RouterInheritance {
  readonly kind: 'inheritance';
  readonly previousId: string;
  readonly successorId: string;
  readonly prefix?: string;
  readonly idsMax: number;
  readonly triggers: string[];
  readonly types: string[];
}

/** What the provider of its type says about a trigger of the router that gets this. */
export interface RouterVerdict {
  readonly kind: 'verdict';
  readonly id: string;
  /** Absent: it is accepted. */
  readonly error?: string;
}

/** Everything that the modules of the first router offer, each time in full. */
export interface ModulesOfHome {
  readonly kind: 'modules';
  readonly functions: readonly OfferedFunction[];
  readonly types: readonly OfferedType[];
}

export interface OfferedFunction {
  readonly id: string;
  readonly module: string;
  readonly description?: string;
  readonly requestFormat?: string;
  readonly responseFormat?: string;
  readonly metadata?: string;
}

export interface OfferedType {
  readonly id: string;
  readonly description: string;
  readonly configFormat?: string;
  readonly payloadFormat?: string;
}
