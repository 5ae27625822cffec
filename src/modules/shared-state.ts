// What the further routers of the process need to read and write state without the first one: its store, and whether
// changes have a listener. The state module of the first router and the code that connects the threads meet here.

import type { Store } from '../store/thread/contract.ts';

const MAY_GO_AROUND = 0;
const MUST_PASS_ON = 1;

export class SharedState {
  /** Shared with the threads: see `mustPassOn`. */
  readonly flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(MUST_PASS_ON);
  #store: Store | undefined;
  #hasEnded = false;

  /** `undefined`: state is not on this machine, or there is none. */
  get store(): Store | undefined {
    return this.#store;
  }

  offer(store: Store): void {
    this.#store = store;
  }

  note(isListening: boolean): void {
    const passes = isListening || this.#store === undefined || this.#hasEnded;
    Atomics.store(this.flag, 0, passes ? MUST_PASS_ON : MAY_GO_AROUND);
  }

  /** The module has stopped. The threads do not learn of another store. */
  end(): void {
    this.#hasEnded = true;
    this.note(true);
  }
}

/** Whether only the first router may change state, because it knows who listens. */
export function mustPassOn(flag: Int32Array): boolean {
  return Atomics.load(flag, 0) !== MAY_GO_AROUND;
}
