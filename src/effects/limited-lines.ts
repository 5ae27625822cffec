// A rate limit for log lines: the number of lines left out is reported once, when its second is over.

import type { LeftOut, LineLimit } from '../core/gates/line-limit.ts';
import type { Clock } from './clock.ts';

const SECOND_MS = 1_000;

export class LimitedLines {
  readonly #limit: LineLimit;
  readonly #clock: Clock;
  readonly #report: (leftOut: LeftOut) => boolean;
  #isReportPlanned = false;

  /** `report` returns whether the report was written; otherwise it is repeated later. */
  constructor(limit: LineLimit, clock: Clock, report: (leftOut: LeftOut) => boolean) {
    this.#limit = limit;
    this.#clock = clock;
    this.#report = report;
  }

  /** Whether one more line of that kind may be written. */
  admits(kind: string): boolean {
    if (this.#limit.take(kind, this.#clock.monotonicMs())) return true;
    this.#planReport();
    return false;
  }

  /** An admitted line could not be written. */
  notWritten(kind: string): void {
    this.#limit.leaveOut(kind, 1, this.#clock.monotonicMs());
    this.#planReport();
  }

  #planReport(): void {
    if (this.#isReportPlanned) return;
    this.#isReportPlanned = true;
    this.#clock.after(SECOND_MS, () => {
      this.#isReportPlanned = false;
      this.#reportUntil(this.#clock.monotonicMs());
      if (this.#limit.hasLeftOut) this.#planReport();
    });
  }

  /** No more lines come: the lines left out in this second are reported now. */
  end(): void {
    this.#reportUntil(this.#clock.monotonicMs() + SECOND_MS);
  }

  #reportUntil(nowMs: number): void {
    for (const leftOut of this.#limit.takeLeftOut(nowMs)) {
      if (!this.#report(leftOut)) this.#limit.leaveOut(leftOut.kind, leftOut.count, nowMs);
    }
  }
}
