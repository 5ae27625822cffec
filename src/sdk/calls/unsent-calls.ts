// Calls that cannot be sent yet: there is no connection, the engine allows no further unanswered call, or too much of
// what was sent is still unread. They leave in the order in which they were made, or expire (W4).
//
// Calls of handlers wait in lines of their own, one for each depth of their chain, and each deeper line may use places
// that the lines above it cannot take. Without that, calls from outside of handlers could take every place and wait for
// handlers that wait for a place.

import type { PendingCall } from './pending-calls.ts';

export class UnsentCalls {
  /** By depth. */
  readonly #lines: Line[] = [];
  readonly #bytesMax: number;
  #bytes = 0;
  #size = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether calls of that depth wait: a later one must not overtake them. */
  hasLine(depth: number): boolean {
    return this.#line(depth).size > 0;
  }

  /** Returns false if the call does not fit. */
  add(call: PendingCall, bytes: number): boolean {
    const held = bytes + CALL_BYTES;
    if (this.#bytes + held > this.#bytesMax) return false;
    this.#line(call.chainDepth).set(call, held);
    this.#bytes += held;
    this.#size++;
    return true;
  }

  /** Returns whether the call was there. */
  remove(call: PendingCall): boolean {
    const line = this.#line(call.chainDepth);
    const held = line.get(call);
    if (held === undefined) return false;
    line.delete(call);
    this.#bytes -= held;
    this.#size--;
    return true;
  }

  /** Removes the call that leaves next, if there is a place for it: of the deepest chain, the oldest. */
  take(sentCount: number, callsMax: number): PendingCall | undefined {
    for (let depth = DEEPEST; depth >= 0; depth--) {
      const call = sentCount < placesAt(depth, callsMax) && this.#line(depth).first();
      if (call && this.remove(call)) return call;
    }
    return undefined;
  }

  #line(depth: number): Line {
    const index = Math.min(depth, DEEPEST);
    this.#lines[index] ??= new Line();
    return this.#lines[index];
  }
}

/** Calls with the bytes they hold. A Map keeps the order and allows removal from the middle. */
class Line extends Map<PendingCall, number> {
  /** Kept, because each new one would pass over all entries that left since the Map last shrank. */
  #order = this.keys();

  /** To be removed before the next one is asked for. */
  first(): PendingCall | undefined {
    const { value } = this.#order.next();
    if (value !== undefined || this.size === 0) return value;
    this.#order = this.keys();
    return this.#order.next().value;
  }
}

/** How many unanswered calls there may be when a call of that depth is sent: three quarters of the limit, 15/16, … */
export function placesAt(depth: number, callsMax: number): number {
  return callsMax - Math.floor(callsMax / 4 ** (Math.min(depth, DEEPEST) + 1));
}

/** Deeper chains share the last line. */
const DEEPEST = 5;
/** What a call takes besides its payload, as measured. */
const CALL_BYTES = 512;
