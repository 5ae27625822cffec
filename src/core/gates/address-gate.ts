// How many connections one address may have, and open per second (guarantees 4, PD-27), so that one client cannot take
// the places of all.

import type { GateLimits } from './connection-gate.ts';

/** Limits of each address by itself. */
export type AddressLimits = GateLimits;

interface AddressUse {
  open: number;
  secondStartMs: number;
  takenInSecond: number;
}

/** Addresses that are remembered until the next `trim`; connections of further addresses are refused. */
export const ADDRESSES_MAX = 100_000;

export class AddressGate {
  readonly #limits: AddressLimits;
  readonly #uses = new Map<string, AddressUse>();

  constructor(limits: AddressLimits) {
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
