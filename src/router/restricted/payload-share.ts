// How many bytes of payloads restricted connections have at the stores, all together. A store works in the order in
// which commands come: without this share, trusted callers would wait for all that these connections sent before.

import type { Access } from '../../core/access/access.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import { ByteBudget } from '../../core/limits/byte-budget.ts';
import type { SharedBytes } from '../../core/limits/connection-counts.ts';
import type { Payload } from '../../protocol/payload/payload.ts';

/** An eighth of what may wait for a store. */
export const RESTRICTED_PAYLOADS_MAX = 16 * 1024 * 1024;

const REFUSED = new Refusal(
  'OVERLOADED',
  `Restricted ports have ${RESTRICTED_PAYLOADS_MAX} bytes at the stores together, the limit; wait and repeat`,
);

export class PayloadShare {
  readonly #bytes: ByteBudget;

  /** `shared`: those of all routers. */
  constructor(shared: SharedBytes) {
    this.#bytes = new ByteBudget(RESTRICTED_PAYLOADS_MAX, shared);
  }

  /** Returns what to call when the store has answered, any number of times, or why the call is refused. */
  take(rights: Access | undefined, data: Payload | undefined): (() => void) | Refusal {
    if (rights === undefined || data === undefined) return NOTHING;
    let taken = data.byteLength;
    if (!this.#bytes.take(taken)) return REFUSED;
    return () => {
      this.#bytes.giveBack(taken);
      taken = 0;
    };
  }
}

const NOTHING = (): void => {};
