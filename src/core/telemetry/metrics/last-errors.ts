// The last error of each function, kept although its span may have left: a page that shows a failure rate must be able
// to show a failure.

import type { SpanRecord } from '../records/records.ts';

export interface LastError {
  /** Unix milliseconds, when the call began. */
  readonly at_ms: number;
  readonly text: string;
  readonly trace_id: string;
  readonly span_id: string;
}

const CALL = 'call ';
/** As many as have counters. */
const FUNCTIONS_MAX = 2_000;

export class LastErrors {
  readonly #byFunction = new Map<string, LastError>();

  note({ name, status, status_description: text, start_time_unix_nano, trace_id, span_id }: SpanRecord): void {
    if (status !== 'error' || !name.startsWith(CALL)) return;
    const functionId = name.slice(CALL.length);
    // The last place belongs to the function that failed last.
    this.#byFunction.delete(functionId);
    this.#byFunction.set(functionId, { at_ms: start_time_unix_nano / 1e6, text: text ?? '', trace_id, span_id });
    if (this.#byFunction.size <= FUNCTIONS_MAX) return;
    const [oldest] = this.#byFunction.keys();
    if (oldest !== undefined) this.#byFunction.delete(oldest);
  }

  of(functionId: string): LastError | undefined {
    return this.#byFunction.get(functionId);
  }
}
