// Callers that wait for the worker to be connected.

import type { SvcError } from '../calls/errors.ts';

export class Readiness {
  #isUp = false;
  /** Why there will be no further connection. */
  #end: SvcError | undefined;
  #waiters: Waiter[] = [];

  wait(): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    if (this.#isUp) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
    });
  }

  up(): void {
    this.#isUp = true;
    for (const { resolve } of this.#takeWaiters()) resolve();
  }

  down(): void {
    this.#isUp = false;
  }

  /** The engine refused: a retry would fail until an operator changes its configuration. */
  refuse(error: SvcError): void {
    for (const { reject } of this.#takeWaiters()) reject(error);
  }

  end(error: SvcError): void {
    this.#isUp = false;
    this.#end = error;
    this.refuse(error);
  }

  #takeWaiters(): Waiter[] {
    const waiters = this.#waiters;
    this.#waiters = [];
    return waiters;
  }
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: SvcError) => void;
}
