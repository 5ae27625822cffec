// How many jobs of one queue may be claimed and handed over now. Every queue has a window of its own, so that a slow
// one delays no other (Q12).
//
// A job passes through: requested, held (claimed, not handed over), running. A request reports ended jobs first, in the
// same transaction.
// Invariants:
//   - Never more running than `concurrency`; in a FIFO queue never more than one (F1, Q11).
//   - A FIFO queue requests a job only when none of its jobs is requested, held or running: the next job of a group
//     waits until its head is durably done (F2).
//   - At most as many jobs are claimed ahead as this engine has already finished: an engine that ends again and again
//     claims no more jobs than it runs, so that few jobs are suspected (Q6).

export interface WindowRules {
  readonly concurrency: number;
  readonly isFifo: boolean;
}

/** More only delay the return of jobs that a crash leaves claimed. */
const AHEAD_MAX = 64;
const SLOWED_DIVISOR = 4;

export class DeliveryWindow {
  #concurrency = 1;
  #isFifo = true;
  #isSlowed = false;
  #asked = 0;
  #held = 0;
  #running = 0;
  #finished = 0;

  constructor(rules: WindowRules) {
    this.setRules(rules);
  }

  /** Running jobs continue, also beyond a smaller window. */
  setRules({ concurrency, isFifo }: WindowRules): void {
    this.#concurrency = isFifo ? 1 : concurrency;
    this.#isFifo = isFifo;
  }

  /** The engine is under pressure: the window is a quarter. Running jobs continue. */
  slow(isSlowed: boolean): void {
    this.#isSlowed = isSlowed;
  }

  get #limit(): number {
    return this.#isSlowed ? Math.ceil(this.#concurrency / SLOWED_DIVISOR) : this.#concurrency;
  }

  get running(): number {
    return this.#running;
  }

  get isIdle(): boolean {
    return this.#asked + this.#held + this.#running === 0;
  }

  /** How many more to request from the store. */
  get toAsk(): number {
    if (this.#isFifo) return this.isIdle ? 1 : 0;
    const ahead = Math.min(AHEAD_MAX, this.#limit, this.#finished);
    return Math.max(0, this.#limit + ahead - this.#asked - this.#held - this.#running);
  }

  get mayHandOver(): boolean {
    return this.#running < this.#limit && this.#held > 0;
  }

  ask(count: number): void {
    this.#asked += count;
  }

  /** The store answered: of the requested jobs it had `claimed`. */
  answered(asked: number, claimed: number): void {
    this.#asked -= asked;
    this.#held += claimed;
  }

  handOver(): void {
    if (!this.mayHandOver) throw new Error('No slot is free, or no job is held');
    this.#held--;
    this.#running++;
  }

  /** A held job returns to the queue without having run. */
  drop(): void {
    this.#held--;
  }

  end(): void {
    this.#running--;
    this.#finished++;
  }
}
