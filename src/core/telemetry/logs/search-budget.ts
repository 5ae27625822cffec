// The budget of one search. An expression takes time linear in the text, times its own size: a short one over many
// large records takes minutes. So do dozens of words. A search over its budget ends with an error: a list that is
// silently incomplete is worse.

import { Refusal } from '../../calls/refusal.ts';

/**
 * Of an expression, program instructions times characters: about a second of the worst expressions, 30 ms of ordinary
 * ones. They are enough for 20 instructions over 12 000 records of 200 characters. A step takes up to 20 ns; what takes
 * longer is charged as several.
 */
export const SEARCH_STEPS_MAX = 50_000_000;
/** Of each text that is compared, also of an empty one. */
const TEXT_STEPS = 4;

export class SearchBudget {
  readonly #total: number | undefined;
  readonly #advice: string;
  #left = SEARCH_STEPS_MAX;
  #looked = -1;

  /** `total`: the number of records, where that is known. `advice`: how to make this search cheaper. */
  constructor(total: number | undefined, advice: string) {
    this.#total = total;
    this.#advice = advice;
  }

  /** Counts one more record. */
  next(): void {
    this.#looked++;
  }

  /** Of what was charged for the worst case. */
  giveBack(steps: number): void {
    this.#left += steps;
  }

  /** Throws the `Refusal` that ends the search where the budget does not allow it. */
  charge(expression: string, stepsEach: number, characters: number): void {
    this.#left -= TEXT_STEPS + stepsEach * characters;
    if (this.#left >= 0) return;
    const of = this.#total === undefined ? '' : ` of ${this.#total}`;
    const limit = `its limit is ${SEARCH_STEPS_MAX} steps (program instructions times characters)`;
    const text = `The search for ${expression} ended after ${this.#looked}${of} log records: ${limit}`;
    throw new Refusal(
      'BAD_REQUEST',
      `${text}, and each character takes ${Number(stepsEach.toFixed(3))}. ${this.#advice}.`,
    );
  }
}
