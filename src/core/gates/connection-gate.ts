// How many connections one listener accepts, in all and per second (guarantees 4).

export interface GateLimits {
  readonly connectionsMax: number;
  readonly connectionsPerSecondMax: number;
}

export type GateVerdict = 'open' | 'full' | 'too_fast';

export class ConnectionGate {
  readonly #limits: GateLimits;
  readonly #takeRoom: () => boolean;
  #open = 0;
  #secondStartMs = Number.NEGATIVE_INFINITY;
  #takenInSecond = 0;

  /** `takeRoom`: asks the whole process for room for one more; false makes the gate full. */
  constructor(limits: GateLimits, takeRoom: () => boolean = () => true) {
    this.#limits = limits;
    this.#takeRoom = takeRoom;
  }

  /** Requests one more connection; counts it if the result is `open`. */
  enter(nowMs: number): GateVerdict {
    if (this.#open >= this.#limits.connectionsMax) return 'full';
    if (nowMs - this.#secondStartMs >= 1000) {
      this.#secondStartMs = nowMs;
      this.#takenInSecond = 0;
    }
    if (this.#takenInSecond >= this.#limits.connectionsPerSecondMax) return 'too_fast';
    if (!this.#takeRoom()) return 'full';
    this.#takenInSecond++;
    this.#open++;
    return 'open';
  }

  leave(): void {
    this.#open--;
  }
}
