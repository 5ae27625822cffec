// What limits of connections count with: by one router for itself, or by all routers of a process together.

/** Of one port or, by themselves, of each address. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly connectionsPerSecondMax: number;
}

/** One count of one router, as the code sees it that keeps a limit. */
export interface SharedCount {
  /** This router has so many now. */
  note(own: number): void;
  /** What the other routers have together. */
  readonly elsewhere: number;
  /** The most that one of them has. */
  readonly mostElsewhere: number;
}

/** Of a process with one router. */
export const NOT_SHARED: SharedCount = { note: () => {}, elsewhere: 0, mostElsewhere: 0 };

const KIB = 1024;

/** Bytes that all routers have together, counted in KiB. */
export class SharedBytes {
  readonly #kib: SharedCount;

  constructor(kib: SharedCount = NOT_SHARED) {
    this.#kib = kib;
  }

  /** This router has so many now. */
  note(own: number): void {
    this.#kib.note(Math.ceil(own / KIB));
  }

  get elsewhere(): number {
    return this.#kib.elsewhere * KIB;
  }

  /** Notes what this router has; whether no other one has more. */
  isMost(own: number): boolean {
    this.note(own);
    return Math.ceil(own / KIB) >= this.#kib.mostElsewhere;
  }
}

/** Counts what is new within a second. */
export interface NewInSecond {
  /** Whether one more is within the limit; counts it then. */
  take(nowMs: number, max: number): boolean;
  /** The last one that was taken does not count after all. */
  giveBack(): void;
}

/** The connections of each address. */
export interface AddressUses {
  /** Requests one more connection; counts it if it is admitted. */
  enter(address: string, nowMs: number): boolean;
  leave(address: string): void;
  /** Forgets addresses without connections; called now and then. */
  trim(nowMs: number): void;
}

/** What a port counts together with the same port of the other routers. */
export interface SharedPort {
  readonly open: SharedCount;
  readonly rate: NewInSecond;
  /** Absent: each router counts them for itself. */
  readonly addresses?: (limits: ConnectionLimits) => AddressUses;
}
