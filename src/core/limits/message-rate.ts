// How many messages one restricted connection may send (guarantees 4): a rate per second, with a burst.

export interface MessageRateLimits {
  readonly perSecond: number;
  readonly burst: number;
}

/** `excess`: over the limit. `flood`: over the limit for too long, the connection is to be closed. */
export type RateVerdict = 'ok' | 'excess' | 'flood';

const EXCESS_MS_MAX = 10_000;
/** After this long without an excess message, the next one starts a new period of excess. */
const CALM_MS = 1_000;

export class MessageRate {
  readonly #limits: MessageRateLimits;
  #left: number;
  #filledMs: number;
  #excessStartMs: number | undefined;
  #lastExcessMs = 0;

  constructor(limits: MessageRateLimits, nowMs: number) {
    this.#limits = limits;
    this.#left = limits.burst;
    this.#filledMs = nowMs;
  }

  /** Counts one more message. */
  take(nowMs: number): RateVerdict {
    const { perSecond, burst } = this.#limits;
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#filledMs) * perSecond) / 1000);
    this.#filledMs = nowMs;
    if (this.#left >= 1) {
      this.#left--;
      return 'ok';
    }
    if (this.#excessStartMs === undefined || nowMs - this.#lastExcessMs > CALM_MS) this.#excessStartMs = nowMs;
    this.#lastExcessMs = nowMs;
    return nowMs - this.#excessStartMs >= EXCESS_MS_MAX ? 'flood' : 'excess';
  }
}
