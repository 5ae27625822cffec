// Counts and durations of calls by function: a few additions for each call, collected as `CallCounts` now and then.

import type { CallCounts } from '../records/intake.ts';
import { Durations } from './durations.ts';

/** Label sets of one metric (guarantees 4); further ones are counted as one. */
const FUNCTIONS_MAX = 2_000;
const OTHER = 'other';
/** Handlers choose the codes: only the first ones are counted separately. */
export const CODES_MAX = 50;
const CODE_CHARS_MAX = 128;
/** What is counted together. */
export const OTHER_CODE = 'other';

class FunctionStats {
  readonly functionId: string;
  isTouched = false;
  deferred = 0;
  readonly ok = new Durations();
  readonly error = new Durations();
  errors: Record<string, number> | undefined;

  constructor(functionId: string) {
    this.functionId = functionId;
  }

  countCode(given: string): void {
    const code = given.slice(0, CODE_CHARS_MAX);
    this.errors ??= Object.create(null) as Record<string, number>;
    const isKnown = this.errors[code] !== undefined || Object.keys(this.errors).length < CODES_MAX;
    const key = isKnown ? code : OTHER_CODE;
    this.errors[key] = (this.errors[key] ?? 0) + 1;
  }

  take(): CallCounts {
    const { functionId, deferred, errors } = this;
    this.isTouched = false;
    this.deferred = 0;
    this.errors = undefined;
    const okDurations = this.ok.take();
    const errorDurations = this.error.take();
    return {
      functionId,
      ok: okDurations.count,
      error: errorDurations.count,
      deferred,
      errors: { ...errors },
      okDurations,
      errorDurations,
    };
  }
}

export class CallStats {
  readonly #functions = new Map<string, FunctionStats>();
  readonly #other = new FunctionStats(OTHER);
  #touched: FunctionStats[] = [];

  get isEmpty(): boolean {
    return this.#touched.length === 0;
  }

  /** `functionId` is kept, so it must not be a substring of a large text. `errorCode` undefined: the call succeeded. */
  ended(functionId: string, durationMs: number, errorCode: string | undefined): void {
    const stats = this.#touch(functionId);
    if (errorCode === undefined) stats.ok.add(durationMs);
    else {
      stats.error.add(durationMs);
      stats.countCode(errorCode);
    }
  }

  deferred(functionId: string): void {
    this.#touch(functionId).deferred++;
  }

  take(): CallCounts[] {
    const touched = this.#touched;
    this.#touched = [];
    return touched.map((stats) => stats.take());
  }

  #touch(functionId: string): FunctionStats {
    let stats = this.#functions.get(functionId);
    if (stats === undefined) {
      stats = this.#functions.size < FUNCTIONS_MAX ? new FunctionStats(functionId) : this.#other;
      if (stats !== this.#other) this.#functions.set(functionId, stats);
    }
    if (!stats.isTouched) {
      stats.isTouched = true;
      this.#touched.push(stats);
    }
    return stats;
  }
}
