// Keeps entries of a bucket as they should be.
//
// What should be there is compared with what is known to be there, one entry at a time, so that an interruption or a
// failed write needs no code of its own: the difference is written again.
// Invariant: changes of one entry are written one after the other.

import type { Clock } from '../effects/clock.ts';
import type { Bucket } from '../effects/nats/bucket.ts';

export interface BucketWriterOptions {
  readonly bucket: Pick<Bucket, 'put' | 'delete'>;
  /** A change is written when it is noted, before what happens next. */
  readonly isImmediate?: boolean | undefined;
  readonly clock: Clock;
  readonly keyOf: (entry: string) => string;
  /** `undefined`: the entry should not be there. */
  readonly wantedOf: (entry: string) => string | undefined;
  /** The value that was wanted has this revision. */
  readonly written?: (entry: string, revision: number) => void;
  /** The value that is wanted was there before. */
  readonly unchanged?: (entry: string) => void;
}

/** Writes that wait for their confirmation at a time. */
const WRITES_MAX = 256;
const RETRY_MS = 500;

export class BucketWriter {
  readonly #options: BucketWriterOptions;
  /** Entries that may differ from what is written. */
  readonly #changed = new Set<string>();
  readonly #writing = new Set<string>();
  readonly #written = new Map<string, string>();
  #isScheduled = false;
  #isStopped = false;

  constructor(options: BucketWriterOptions) {
    this.#options = options;
  }

  /** The entry may have changed: it is compared at the end of the turn. */
  note(entry: string): void {
    this.#changed.add(entry);
    if (this.#options.isImmediate === true) return this.#writeChanges();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.clock.afterTurn(() => {
      this.#isScheduled = false;
      this.#writeChanges();
    });
  }

  /** The bucket is known to hold this. */
  known(entry: string, value: string | undefined): void {
    if (value === undefined) this.#written.delete(entry);
    else this.#written.set(entry, value);
  }

  /** The bucket is known to hold the entry. */
  has(entry: string): boolean {
    return this.#written.has(entry);
  }

  stop(): void {
    this.#isStopped = true;
  }

  #writeChanges(): void {
    for (const entry of this.#changed) {
      if (this.#isStopped || this.#writing.size >= WRITES_MAX) return;
      if (this.#writing.has(entry)) continue;
      this.#changed.delete(entry);
      void this.#write(entry);
    }
  }

  async #write(entry: string): Promise<void> {
    const { bucket, keyOf, wantedOf, clock } = this.#options;
    const value = wantedOf(entry);
    if (value === this.#written.get(entry)) return this.#options.unchanged?.(entry);
    this.#writing.add(entry);
    try {
      const revision = value === undefined ? undefined : await bucket.put(keyOf(entry), value);
      if (revision === undefined) await bucket.delete(keyOf(entry));
      else this.#options.written?.(entry, revision);
      this.known(entry, value);
    } catch {
      await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
      this.#changed.add(entry);
    } finally {
      this.#writing.delete(entry);
    }
    this.#writeChanges();
  }
}
