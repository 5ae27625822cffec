// The slowest traces of each function, among those that would leave the store. Bounded by traces for each function, and
// by functions.

import type { SpanRecord } from '../records/records.ts';
import type { Trace } from './stored-trace.ts';

/** Enough to compare: one alone may be a cold start. */
export const SLOWEST_PER_FUNCTION = 3;
/** Users choose the ids of functions. */
const FUNCTIONS_MAX = 1_000;

interface Slow {
  readonly trace: Trace;
  readonly nano: number;
}

export class SlowestTraces {
  /** The fastest of them first. */
  readonly #byFunction = new Map<string, Slow[]>();
  /** For how many functions a trace is among the slowest. */
  readonly #places = new Map<Trace, number>();

  /** The traces that lost their last place to this one; `undefined`: it is not among the slowest of any function. */
  offer(trace: Trace): readonly Trace[] | undefined {
    const displaced: Trace[] = [];
    for (const [functionId, nano] of durations(trace)) {
      const slow = this.#slowOf(functionId);
      if (slow === undefined || (slow.length >= SLOWEST_PER_FUNCTION && nano <= (slow[0]?.nano ?? 0))) continue;
      const at = slow.findIndex((other) => other.nano > nano);
      slow.splice(at < 0 ? slow.length : at, 0, { trace, nano });
      this.#places.set(trace, (this.#places.get(trace) ?? 0) + 1);
      if (slow.length <= SLOWEST_PER_FUNCTION) continue;
      const faster = slow.shift()?.trace;
      if (faster !== undefined && this.#losesPlace(faster)) displaced.push(faster);
    }
    return this.#places.has(trace) ? displaced : undefined;
  }

  remove(trace: Trace): void {
    if (!this.#places.delete(trace)) return;
    for (const [functionId, slow] of this.#byFunction) {
      const left = slow.filter((one) => one.trace !== trace);
      if (left.length === 0) this.#byFunction.delete(functionId);
      else if (left.length < slow.length) this.#byFunction.set(functionId, left);
    }
  }

  #slowOf(functionId: string): Slow[] | undefined {
    const known = this.#byFunction.get(functionId);
    if (known !== undefined || this.#byFunction.size >= FUNCTIONS_MAX) return known;
    const slow: Slow[] = [];
    this.#byFunction.set(functionId, slow);
    return slow;
  }

  #losesPlace(trace: Trace): boolean {
    const left = (this.#places.get(trace) ?? 1) - 1;
    if (left > 0) this.#places.set(trace, left);
    else this.#places.delete(trace);
    return left <= 0;
  }
}

/** The longest call of each function in the trace. */
function durations({ spans }: Trace): Map<string, number> {
  const longest = new Map<string, number>();
  for (const { record } of spans.values()) {
    const functionId = calledFunction(record);
    if (functionId === undefined || record.pending === true) continue;
    const nano = record.end_time_unix_nano - record.start_time_unix_nano;
    if (nano > (longest.get(functionId) ?? -1)) longest.set(functionId, nano);
  }
  return longest;
}

/** For a span of the engine for a call. */
function calledFunction({ name }: SpanRecord): string | undefined {
  return name.startsWith(CALL) ? name.slice(CALL.length) : undefined;
}

const CALL = 'call ';
