// Calls that wait for a connection (W4). They leave in the order in which they were made, or by their own deadline.

import type { PendingCall } from './pending-call.ts';

export class OfflineQueue {
  /** With the bytes each one holds. A Map keeps the order and takes out of the middle. */
  readonly #calls = new Map<PendingCall, number>();
  #bytes = 0;

  /** Takes the call, or says which limit keeps it out. */
  admit(call: PendingCall, bytes: number): string | undefined {
    if (this.#calls.size >= CALLS_MAX) return `${CALLS_MAX} calls`;
    if (this.#bytes + bytes > BYTES_MAX) return `${BYTES_MAX / 1024 / 1024} MiB of calls`;
    this.#calls.set(call, bytes);
    this.#bytes += bytes;
    return undefined;
  }

  /** Whether it was there. */
  remove(call: PendingCall): boolean {
    this.#bytes -= this.#calls.get(call) ?? 0;
    return this.#calls.delete(call);
  }

  /** All of them, oldest first; the queue is empty afterwards. */
  takeAll(): PendingCall[] {
    const calls = [...this.#calls.keys()];
    this.#calls.clear();
    this.#bytes = 0;
    return calls;
  }
}

const CALLS_MAX = 1_000;
const BYTES_MAX = 16 * 1024 * 1024;
