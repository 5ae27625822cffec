// Rows of spans until the telemetry thread takes them.
//
// Where that thread keeps fewer spans than arrive, most need not be sent: then the newest replace the oldest here
// already, as they would there. Otherwise the newest are refused.

import { type OpenSpan, ROW_LENGTH, writeRow } from './span-rows.ts';

/** While the telemetry thread accepts nothing. */
const ROWS_MAX = 8_192;

export class SpanBuffer {
  /** How many of the newest the receiver keeps. */
  spansKept: number;
  #rows: (string | number)[] = [];
  /** The position of the oldest row once the newest have begun to replace them. */
  #oldestAt = 0;
  /** Replaced since the last `take`. */
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
