// Which names belong to trusted workers, also while those are away.
//
// Job: a connection of a restricted port never takes a name that a trusted connection has used. Pure: the code that
// keeps the table across restarts follows its changes.
// Neighbours: `router/registrations/functions.ts`, `router/triggers/triggers.ts` and the modules reserve; registrations
// of restricted connections ask; `modules/engine/reservations.ts` keeps the table on disk.

export const RESERVED_KINDS = ['function', 'route', 'subscription', 'trigger type'] as const;

export type ReservedKind = (typeof RESERVED_KINDS)[number];

export interface Reservation {
  readonly kind: ReservedKind;
  readonly name: string;
}

export type ReservationChange = Reservation & { readonly isReserved: boolean };

export class Reservations {
  /** The names of a kind in the order in which they were last used, each with its number in the order of all. */
  readonly #uses: Readonly<Record<ReservedKind, Map<string, number>>> = {
    function: new Map(),
    route: new Map(),
    subscription: new Map(),
    'trigger type': new Map(),
  };
  #useCount = 0;
  readonly #listeners = new Set<(change: ReservationChange) => void>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return RESERVED_KINDS.reduce((sum, kind) => sum + this.#uses[kind].size, 0);
  }

  *all(): IterableIterator<Reservation> {
    for (const kind of RESERVED_KINDS) for (const name of this.#uses[kind].keys()) yield { kind, name };
  }

  has(kind: ReservedKind, name: string): boolean {
    return this.#uses[kind].has(name);
  }

  /** Returns the reservation that was evicted for it: the one used least recently. */
  reserve(kind: ReservedKind, name: string): Reservation | undefined {
    const uses = this.#uses[kind];
    const isKnown = uses.delete(name);
    uses.set(name, this.#useCount++);
    if (isKnown) return undefined;
    this.#report({ kind, name, isReserved: true });
    if (this.size <= this.#max) return undefined;
    const oldest = this.#oldest();
    if (oldest !== undefined) this.release(oldest.kind, oldest.name);
    return oldest;
  }

  /** Returns whether it was reserved. */
  release(kind: ReservedKind, name: string): boolean {
    const wasReserved = this.#uses[kind].delete(name);
    if (wasReserved) this.#report({ kind, name, isReserved: false });
    return wasReserved;
  }

  /** Returns a function that ends it. */
  onChange(listener: (change: ReservationChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #oldest(): Reservation | undefined {
    let oldest: Reservation | undefined;
    let oldestUse = Number.POSITIVE_INFINITY;
    for (const kind of RESERVED_KINDS) {
      const [first] = this.#uses[kind];
      if (first === undefined || first[1] > oldestUse) continue;
      oldest = { kind, name: first[0] };
      oldestUse = first[1];
    }
    return oldest;
  }

  #report(change: ReservationChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
