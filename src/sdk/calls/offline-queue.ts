// Calls that wait for a connection (W4). They leave in the order in which they were made, or expire.

import type { PendingCall } from './pending-call.ts';

export class OfflineQueue {
  /** Each call with the bytes it holds. A Map keeps the order and allows removal from the middle. */
  readonly #calls = new Map<PendingCall, number>();
  #bytes = 0;

  /** Adds the call, or returns the limit that does not allow it. */
  admit(call: PendingCall, bytes: number): string | undefined {
    if (this.#calls.size >= CALLS_MAX) return `${CALLS_MAX} calls`;
    if (this.#bytes + bytes > BYTES_MAX) return `${BYTES_MAX / 1024 / 1024} MiB of calls`;
    this.#calls.set(call, bytes);
    this.#bytes += bytes;
    return undefined;
  }

  /** Returns whether the call was there. */
  remove(call: PendingCall): boolean {
    this.#bytes -= this.#calls.get(call) ?? 0;
    return this.#calls.delete(call);
  }

  /** Removes and returns all calls, oldest first. */
  takeAll(): PendingCall[] {
    const calls = [...this.#calls.keys()];
    this.#calls.clear();
    this.#bytes = 0;
    return calls;
  }
}

const CALLS_MAX = 1_000;
const BYTES_MAX = 16 * 1024 * 1024;
