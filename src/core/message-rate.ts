// How many messages one connection of strangers may send (guarantees 4): so many per second, with a burst.

export interface MessageRateLimits {
  readonly perSecond: number;
  readonly burst: number;
}

/** `excess`: over the limit. `flood`: it has been for too long, the connection is to be closed. */
export type RateVerdict = 'ok' | 'excess' | 'flood';

const EXCESS_MS_MAX = 10_000;
/** After so long without a message too many, the next one begins a new time of excess. */
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

  /** One more message came. */
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
