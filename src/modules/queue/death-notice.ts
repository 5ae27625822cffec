// Logs jobs that became dead letters: the first at once, the others together, periodically. If every job of a full
// queue fails, each step would otherwise write a line of its own.

import { loggedName } from '../../core/queue/queue-names.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';

const TOLD_EVERY_MS = 10_000;

export interface DeathNoticeParts {
  readonly clock: Pick<Clock, 'after'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export class DeathNotice {
  readonly #queue: string;
  readonly #parts: DeathNoticeParts;
  #untold = 0;
  #isWaiting = false;

  constructor(queue: string, parts: DeathNoticeParts) {
    this.#queue = queue;
    this.#parts = parts;
  }

  add(jobs: number): void {
    this.#untold += jobs;
    if (!this.#isWaiting) this.#tell();
  }

  #tell(): void {
    this.#isWaiting = this.#untold > 0;
    if (!this.#isWaiting) return;
    this.#parts.logger.warn('Jobs became dead letters', { queue: loggedName(this.#queue), jobs: this.#untold });
    this.#untold = 0;
    this.#parts.clock.after(TOLD_EVERY_MS, () => this.#tell());
  }
}
