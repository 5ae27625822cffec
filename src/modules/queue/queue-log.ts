// The log lines of one queue. Each is limited: a full queue whose jobs all fail, or whose functions are absent, would
// otherwise write a line with each step.

import { loggedName } from '../../core/queue/queue-names.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';

const DEATHS_INTERVAL_MS = 10_000;
const INTERVAL_MS = 60_000;
/** If more functions are absent, one may be logged twice within a minute. */
const ABSENT_MAX = 1_000;

export interface QueueLogOptions {
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export class QueueLog {
  readonly #queue: string;
  readonly #options: QueueLogOptions;
  #deaths = 0;
  #isDeathLineDue = false;
  #refusedMs = Number.NEGATIVE_INFINITY;
  readonly #absentMs = new Map<string, number>();

  constructor(queue: string, options: QueueLogOptions) {
    this.#queue = loggedName(queue);
    this.#options = options;
  }

  /** Jobs became dead letters: the first are logged at once, the others together, periodically. */
  died(jobs: number): void {
    this.#deaths += jobs;
    if (!this.#isDeathLineDue) this.#logDeaths();
  }

  #logDeaths(): void {
    this.#isDeathLineDue = this.#deaths > 0;
    if (!this.#isDeathLineDue) return;
    const { clock, logger } = this.#options;
    logger.warn('Jobs became dead letters', { queue: this.#queue, jobs: this.#deaths });
    this.#deaths = 0;
    clock.after(DEATHS_INTERVAL_MS, () => this.#logDeaths());
  }

  stepRefused(): void {
    const { clock, logger } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#refusedMs < INTERVAL_MS) return;
    this.#refusedMs = nowMs;
    logger.warn('A step of a queue was not carried out and is sent again', { queue: this.#queue });
  }

  functionAbsent(functionId: string): void {
    const { clock, logger } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - (this.#absentMs.get(functionId) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return;
    if (this.#absentMs.size >= ABSENT_MAX) this.#absentMs.clear();
    this.#absentMs.set(functionId, nowMs);
    logger.warn('Jobs wait: no worker offers their function', { queue: this.#queue, function_id: functionId });
  }
}
