// What the further routers of the process need to read and write state without the first one: its store, and whether
// changes have a listener. The state module of the first router and the code that connects the threads meet here.

import type { Store } from '../store/thread/contract.ts';

const MAY_GO_AROUND = 0;
const MUST_PASS_ON = 1;

/** State that is kept on this machine, while its module runs. */
export class KeptState {
  readonly store: Store;
  /** Shared with the threads: see `mustPassOn`. */
  readonly flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(MUST_PASS_ON);
  #hasEnded = false;

  constructor(store: Store) {
    this.store = store;
  }

  note(isListening: boolean): void {
    Atomics.store(this.flag, 0, isListening || this.#hasEnded ? MUST_PASS_ON : MAY_GO_AROUND);
  }

  /** The module has stopped. */
  end(): void {
    this.#hasEnded = true;
    this.note(true);
  }
}

export class SharedState {
  #kept: KeptState | undefined;
  /** Called when a module that keeps state on this machine has started. */
  started = (): void => {};

  /** `undefined`: state is not on this machine, or there is none. */
  get kept(): KeptState | undefined {
    return this.#kept;
  }

  share(store: Store): KeptState {
    const kept = new KeptState(store);
    this.#kept = kept;
    this.started();
    return kept;
  }
}

/** Whether only the first router may change state, because it knows who listens. */
export function mustPassOn(flag: Int32Array): boolean {
  return Atomics.load(flag, 0) !== MAY_GO_AROUND;
}
