// Rows of spans until the telemetry thread takes them.
//
// Where that thread would keep fewer spans than come, most are not worth the way: then the newest push out the oldest
// here already, which is what happens to them there. Otherwise what comes last is refused.

import { type OpenSpan, ROW_LENGTH, writeRow } from './span-rows.ts';

/** While the telemetry thread takes nothing. */
const ROWS_MAX = 8_192;

export class SpanBuffer {
  /** How many of the newest are kept by whoever takes them. */
  spansKept: number;
  #rows: (string | number)[] = [];
  /** Where the oldest row stands once the newest have begun to push them out. */
  #oldestAt = 0;
  /** Pushed out since they were last taken. */
  #pushedOut = 0;

  constructor(spansKept: number) {
    this.spansKept = spansKept;
  }

  get count(): number {
    return this.#rows.length / ROW_LENGTH;
  }

  /** False: there was no room. */
  add(span: OpenSpan, epochMs: number): boolean {
    const { length } = this.#rows;
    if (length < Math.min(this.spansKept, ROWS_MAX) * ROW_LENGTH) {
      writeRow(this.#rows, length, span, epochMs);
      return true;
    }
    if (length === 0 || this.spansKept > ROWS_MAX) return false;
    writeRow(this.#rows, this.#oldestAt, span, epochMs);
    this.#oldestAt = (this.#oldestAt + ROW_LENGTH) % length;
    this.#pushedOut++;
    return true;
  }

  /** The oldest first. */
  take(): { readonly rows: readonly (string | number)[]; readonly pushedOut: number } {
    const at = this.#oldestAt;
    const rows = at === 0 ? this.#rows : [...this.#rows.slice(at), ...this.#rows.slice(0, at)];
    const pushedOut = this.#pushedOut;
    this.#rows = [];
    this.#oldestAt = this.#pushedOut = 0;
    return { rows, pushedOut };
  }
}
