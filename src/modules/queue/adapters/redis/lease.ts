// The lease of this engine on the jobs that it was handed, renewed while it lives.

import type { Clock } from '../../../../effects/clock.ts';

export interface LeaseOptions {
  readonly leaseMs: number;
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  /** Resolves with how many milliseconds are left until the next lease of another engine ends. */
  readonly renew: () => Promise<number>;
}

/** How long after its end an expired lease of another engine is checked. */
const AFTER_END_MS = 20;

export class Lease {
  readonly #options: LeaseOptions;
  #cancel: (() => void) | undefined;
  /** By the monotonic clock: after it other engines may have got its jobs. */
  #endsMs = Number.NEGATIVE_INFINITY;
  #isOver = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#options.clock.monotonicMs() < this.#endsMs;
  }

  /** Renews now, and periodically from then on; also after Redis was away. */
  async hold(): Promise<void> {
    this.#cancel?.();
    const { leaseMs, clock, renew } = this.#options;
    let nextMs = leaseMs / 3;
    const askedMs = clock.monotonicMs();
    try {
      nextMs = Math.min(nextMs, (await renew()) + AFTER_END_MS);
      this.#endsMs = askedMs + leaseMs;
    } finally {
      if (!this.#isOver) this.#cancel = clock.after(nextMs, () => void this.hold().catch(() => {}));
    }
  }

  end(): void {
    this.#isOver = true;
    this.#cancel?.();
  }
}
