// How many connections a port accepts, in all and per second, and how many of them one address may have (guarantees 4,
// PD-27), so that one client cannot take the capacity of all.

import { NOT_SHARED, type SharedCount } from './process-counts.ts';

/** Of one port or, by themselves, of each address. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly connectionsPerSecondMax: number;
}

export type ConnectionVerdict = 'open' | 'full' | 'too_fast';

export class ConnectionLimit {
  readonly #limits: ConnectionLimits;
  readonly #takeDescriptor: () => boolean;
  readonly #shared: SharedCount;
  #open = 0;
  #secondStartMs = Number.NEGATIVE_INFINITY;
  #takenInSecond = 0;

  /** `takeDescriptor`: asks the whole process for one more open file; false makes the port full. */
  constructor(limits: ConnectionLimits, takeDescriptor: () => boolean = () => true, shared = NOT_SHARED) {
    this.#limits = limits;
    this.#takeDescriptor = takeDescriptor;
    this.#shared = shared;
  }

  /** Requests one more connection; counts it if the result is `open`. */
  enter(nowMs: number): ConnectionVerdict {
    if (this.#open + this.#shared.elsewhere >= this.#limits.connectionsMax) return 'full';
    if (nowMs - this.#secondStartMs >= 1000) {
      this.#secondStartMs = nowMs;
      this.#takenInSecond = 0;
    }
    if (this.#takenInSecond >= this.#limits.connectionsPerSecondMax) return 'too_fast';
    if (!this.#takeDescriptor()) return 'full';
    this.#takenInSecond++;
    this.#open++;
    this.#shared.note(this.#open);
    return 'open';
  }

  leave(): void {
    this.#open--;
    this.#shared.note(this.#open);
  }
}

interface AddressUse {
  open: number;
  secondStartMs: number;
  takenInSecond: number;
}

/** Addresses that are remembered until the next `trim`; connections of further addresses are refused. */
export const ADDRESSES_MAX = 100_000;

export class AddressLimit {
  readonly #limits: ConnectionLimits;
  readonly #uses = new Map<string, AddressUse>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Requests one more connection; counts it if it is admitted. */
  enter(address: string, nowMs: number): boolean {
    const known = this.#uses.get(address);
    if (known === undefined && this.#uses.size >= ADDRESSES_MAX) return false;
    const use = known ?? { open: 0, secondStartMs: nowMs, takenInSecond: 0 };
    this.#uses.set(address, use);
    if (nowMs - use.secondStartMs >= 1_000) {
      use.secondStartMs = nowMs;
      use.takenInSecond = 0;
    }
    const { connectionsMax, connectionsPerSecondMax } = this.#limits;
    if (use.open >= connectionsMax || use.takenInSecond >= connectionsPerSecondMax) return false;
    use.open += 1;
    use.takenInSecond += 1;
    return true;
  }

  leave(address: string): void {
    const use = this.#uses.get(address);
    if (use !== undefined) use.open -= 1;
  }

  /** Forgets addresses without connections; called now and then. */
  trim(nowMs: number): void {
    for (const [address, { open, secondStartMs }] of this.#uses) {
      if (open === 0 && nowMs - secondStartMs >= 1_000) this.#uses.delete(address);
    }
  }
}
