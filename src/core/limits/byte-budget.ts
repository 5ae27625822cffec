// A number of bytes shared by many users: bytes that one of them has, no other can get.

import { SharedBytes } from './connection-counts.ts';

export interface Budget {
  /** False: not enough bytes are left, and nothing was taken. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

export class ByteBudget implements Budget {
  readonly #bytesMax: number;
  readonly #shared: SharedBytes;
  #taken = 0;

  /** `shared`: what all routers have taken. */
  constructor(bytesMax: number, shared = new SharedBytes()) {
    this.#bytesMax = bytesMax;
    this.#shared = shared;
  }

  get taken(): number {
    return this.#taken;
  }

  take(bytes: number): boolean {
    if (this.#taken + this.#shared.elsewhere + bytes > this.#bytesMax) return false;
    this.#taken += bytes;
    this.#shared.note(this.#taken);
    return true;
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes;
    this.#shared.note(this.#taken);
  }
}

/** A budget under the name of its limit. */
export interface NamedBudget {
  readonly name: string;
  readonly budget: Budget;
}

/** Bytes that count in each of several budgets, in full. */
export class JointBudget implements Budget {
  readonly #budgets: readonly NamedBudget[];
  #refusedBy = '';

  constructor(budgets: readonly NamedBudget[]) {
    this.#budgets = budgets;
  }

  /** The limit that the last refusal exceeded. */
  get refusedBy(): string {
    return this.#refusedBy;
  }

  take(bytes: number): boolean {
    for (const [index, { name, budget }] of this.#budgets.entries()) {
      if (budget.take(bytes)) continue;
      for (const taken of this.#budgets.slice(0, index)) taken.budget.giveBack(bytes);
      this.#refusedBy = name;
      return false;
    }
    return true;
  }

  giveBack(bytes: number): void {
    for (const { budget } of this.#budgets) budget.giveBack(bytes);
  }
}
