// Ranges that are known to hold no key. A queue is read from its beginning again and again, where its removed keys lie:
// without this each read would pass all those that are still in the tree, and the removals that hide them.
//
// Invariant: a gap holds no key that a transaction sees. Bringing changes into the tree does not change what is seen;
// `put` makes a gap end before its key; a transaction that is not made forgets all gaps.

import { KIND_BYTES } from './change-set.ts';

interface Gap {
  /** Included. */
  readonly from: string;
  /** Excluded. */
  to: string;
}

/** One for each kind of record: the one that was read last. */
export class Gaps {
  readonly #gaps = new Map<string, Gap>();

  /** Where to begin in place of `start`. */
  after(start: string): string {
    const gap = this.#gaps.get(start.slice(0, KIND_BYTES));
    return gap !== undefined && gap.from <= start && start < gap.to ? gap.to : start;
  }

  /** There is no key from `start`, included, to `first`, excluded. Across kinds it is not kept. */
  note(start: string, first: string): void {
    const prefix = start.slice(0, KIND_BYTES);
    if (prefix.length < KIND_BYTES || !first.startsWith(prefix)) return;
    const gap = this.#gaps.get(prefix);
    if (gap === undefined || start < gap.from || start > gap.to) this.#gaps.set(prefix, { from: start, to: first });
    else if (first > gap.to) gap.to = first;
  }

  put(key: string): void {
    if (this.#gaps.size === 0) return;
    const gap = this.#gaps.get(key.slice(0, KIND_BYTES));
    if (gap !== undefined && gap.from <= key && key < gap.to) gap.to = key;
  }

  clear(): void {
    this.#gaps.clear();
  }
}
