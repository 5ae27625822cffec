// Jobs that another engine parked, because it has no worker for their function: this one may have one. No broker
// reports them, so they are searched for periodically (Q7).

import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { QueueAdapter } from './adapters/adapter.ts';
import type { QueueRunner } from './runner.ts';

type WatchedQueue = Pick<QueueRunner, 'noteParked'> & { readonly settings: Pick<QueueRunner['settings'], 'name'> };

const LOOK_MS_MIN = 5_000;
/** A slow search is rare: a broker may have to be read from its front. */
const REST_PER_LOOK = 20;

interface Parts {
  readonly adapter: Pick<QueueAdapter, 'sharing'>;
  readonly queues: { readonly all: readonly WatchedQueue[] };
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly logger: Logger;
}

export class ParkedWatch {
  readonly #parts: Parts;
  #cancel: (() => void) | undefined;
  #isStopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#parts.adapter.sharing !== undefined) this.#lookAfter(LOOK_MS_MIN);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #lookAfter(delayMs: number): void {
    if (!this.#isStopped) this.#cancel = this.#parts.clock.after(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { queues, clock } = this.#parts;
    const beganMs = clock.monotonicMs();
    for (const runner of queues.all) {
      const functionIds = await this.#parkedIn(runner.settings.name);
      if (this.#isStopped) return;
      runner.noteParked(functionIds);
    }
    this.#lookAfter(Math.max(LOOK_MS_MIN, REST_PER_LOOK * (clock.monotonicMs() - beganMs)));
  }

  /** Empty when the broker is away: the next search counts. */
  async #parkedIn(queue: string): Promise<readonly string[]> {
    const { adapter, logger } = this.#parts;
    try {
      return (await adapter.sharing?.parkedElsewhere(queue)) ?? [];
    } catch (error) {
      logger.debug('Parked jobs of other engines could not be searched for', { queue, error: String(error) });
      return [];
    }
  }
}
