// Removes the markers that deleted keys leave in a bucket, when no engine can have missed the deletion any more. All
// engines do it for the keys that they see deleted: those of an engine that has left have no owner.

import type { Clock } from '../effects/clock.ts';
import type { Bucket, BucketEntry } from '../effects/nats/bucket.ts';

const KEPT_MS = 600_000;
const SWEEP_INTERVAL_MS = 60_000;

interface Marker {
  readonly entry: BucketEntry;
  readonly sinceMs: number;
}

export class MarkerSweep {
  readonly #bucket: Bucket;
  readonly #clock: Clock;
  readonly #stop: () => void;
  /** Oldest first. */
  #markers: Marker[] = [];

  constructor(bucket: Bucket, clock: Clock) {
    this.#bucket = bucket;
    this.#clock = clock;
    this.#stop = clock.every(SWEEP_INTERVAL_MS, () => void this.#sweep());
  }

  /** To be called with every entry of the bucket. */
  saw(entry: BucketEntry): void {
    if (entry.value === undefined) this.#markers.push({ entry, sinceMs: this.#clock.monotonicMs() });
  }

  stop(): void {
    this.#stop();
  }

  async #sweep(): Promise<void> {
    const dueMs = this.#clock.monotonicMs() - KEPT_MS;
    const due = this.#markers.filter(({ sinceMs }) => sinceMs <= dueMs);
    this.#markers = this.#markers.slice(due.length);
    for (const { entry } of due) {
      try {
        await this.#bucket.purgeMarker(entry);
      } catch {
        // Another engine has removed it, or NATS is away: then it is removed when the watch delivers it again.
      }
    }
  }
}
