// How many connections a port accepts, in all and per second, and how many of them one address may have (guarantees 4,
// PD-27), so that one client cannot take the capacity of all.

import {
  type AddressUses,
  type ConnectionLimits,
  type NewInSecond,
  NOT_SHARED,
  type SharedCount,
  type SharedPort,
} from './connection-counts.ts';

export type ConnectionVerdict = 'open' | 'full' | 'too_fast';

export class ConnectionLimit {
  readonly #limits: ConnectionLimits;
  readonly #takeDescriptor: () => boolean;
  readonly #shared: SharedCount;
  readonly #rate: NewInSecond;
  #open = 0;

  /** `takeDescriptor`: asks the whole process for one more open file; false makes the port full. */
  constructor(limits: ConnectionLimits, takeDescriptor: () => boolean = () => true, shared?: SharedPort) {
    this.#limits = limits;
    this.#takeDescriptor = takeDescriptor;
    this.#shared = shared?.open ?? NOT_SHARED;
    this.#rate = shared?.rate ?? new OwnRate();
  }

  /** Requests one more connection; counts it if the result is `open`. */
  enter(nowMs: number): ConnectionVerdict {
    const { connectionsMax, connectionsPerSecondMax } = this.#limits;
    if (this.#open + this.#shared.elsewhere >= connectionsMax) return 'full';
    if (!this.#rate.take(nowMs, connectionsPerSecondMax)) return 'too_fast';
    if (!this.#takeDescriptor()) {
      this.#rate.giveBack();
      return 'full';
    }
    this.#open++;
    this.#shared.note(this.#open);
    return 'open';
  }

  leave(): void {
    this.#open--;
    this.#shared.note(this.#open);
  }
}

/** Of one router. A second begins with the first that is taken in it. */
class OwnRate implements NewInSecond {
  #secondStartMs = Number.NEGATIVE_INFINITY;
  #taken = 0;

  take(nowMs: number, max: number): boolean {
    if (nowMs - this.#secondStartMs >= 1_000) {
      this.#secondStartMs = nowMs;
      this.#taken = 0;
    }
    if (this.#taken >= max) return false;
    this.#taken++;
    return true;
  }

  giveBack(): void {
    this.#taken--;
  }
}

interface AddressUse {
  open: number;
  secondStartMs: number;
  takenInSecond: number;
}

/** Addresses that are remembered until the next `trim`; connections of further addresses are refused. */
export const ADDRESSES_MAX = 100_000;

/** Of one router. */
export class AddressLimit implements AddressUses {
  readonly #limits: ConnectionLimits;
  readonly #uses = new Map<string, AddressUse>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

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

  trim(nowMs: number): void {
    for (const [address, { open, secondStartMs }] of this.#uses) {
      if (open === 0 && nowMs - secondStartMs >= 1_000) this.#uses.delete(address);
    }
  }
}
