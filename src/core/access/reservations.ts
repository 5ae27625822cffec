// Which names belong to trusted workers, also while those are away.
//
// Job: a connection of a restricted port never takes a name that a trusted connection has used. Pure: the code that
// keeps the table across restarts follows its changes.
// Neighbours: `router/registrations/functions.ts`, `router/triggers/triggers.ts` and the modules reserve; registrations
// of restricted connections ask; `modules/engine/reservations.ts` keeps the table on disk.

export type ReservedKind = 'function' | 'route' | 'subscription' | 'trigger type';

export interface Reservation {
  readonly kind: ReservedKind;
  readonly name: string;
}

export type ReservationChange = Reservation & { readonly isReserved: boolean };

export class Reservations {
  /** In the order in which they were last used. */
  readonly #byKey = new Map<string, Reservation>();
  readonly #listeners = new Set<(change: ReservationChange) => void>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#byKey.size;
  }

  all(): IterableIterator<Reservation> {
    return this.#byKey.values();
  }

  has(kind: ReservedKind, name: string): boolean {
    return this.#byKey.has(keyOf(kind, name));
  }

  /** Returns the reservation that was evicted for it: the one used least recently. */
  reserve(kind: ReservedKind, name: string): Reservation | undefined {
    const key = keyOf(kind, name);
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      this.#byKey.delete(key);
      this.#byKey.set(key, known);
      return undefined;
    }
    const reservation = { kind, name };
    this.#byKey.set(key, reservation);
    this.#report({ ...reservation, isReserved: true });
    if (this.#byKey.size <= this.#max) return undefined;
    const [oldest] = this.#byKey.values();
    if (oldest !== undefined) this.release(oldest.kind, oldest.name);
    return oldest;
  }

  /** Returns whether it was reserved. */
  release(kind: ReservedKind, name: string): boolean {
    const wasReserved = this.#byKey.delete(keyOf(kind, name));
    if (wasReserved) this.#report({ kind, name, isReserved: false });
    return wasReserved;
  }

  /** Returns a function that ends it. */
  onChange(listener: (change: ReservationChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #report(change: ReservationChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** No kind contains a line break. */
function keyOf(kind: ReservedKind, name: string): string {
  return `${kind}\n${name}`;
}
