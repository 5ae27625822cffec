// Texts out of a payload, one after the other: decoded together by one call and then cut, because a call for each of
// them costs more than everything else.
//
// A cut text may keep the text it was cut from in memory. So at most WINDOW_BYTES are decoded together, and a long text
// is decoded alone.

/** Text in memory, in the fastest way the platform has. */
export interface TextSource {
  /** UTF-8. */
  read(source: Uint8Array, start: number, end: number): string;
  /** One byte per unit. */
  readNarrow(source: Uint8Array, start: number, end: number): string;
  /** Two bytes per unit, little-endian. */
  readWide(source: Uint8Array, start: number, end: number): string;
}

export class TextSlices {
  readonly #source: TextSource;
  readonly #unitBytes: 1 | 2;
  #bytes: Uint8Array = NOTHING;
  /** The end of the decoded bytes, and the end of all bytes. */
  #next = 0;
  #end = 0;
  #window = '';
  #taken = 0;

  constructor(source: TextSource, unitBytes: 1 | 2) {
    this.#source = source;
    this.#unitBytes = unitBytes;
  }

  open(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#next = start;
    this.#end = end;
    this.#window = '';
    this.#taken = 0;
  }

  /** Whether every text has been taken. */
  get isDone(): boolean {
    return this.#taken === this.#window.length && this.#next === this.#end;
  }

  take(units: number): string {
    const start = this.#taken;
    const end = start + units;
    if (end > this.#window.length) return this.#takeFurther(units);
    this.#taken = end;
    return this.#window.substring(start, end);
  }

  #takeFurther(units: number): string {
    const unitBytes = this.#unitBytes;
    // The undecoded rest of the window is decoded again, at the start of the next one.
    const start = this.#next - (this.#window.length - this.#taken) * unitBytes;
    const textEnd = start + units * unitBytes;
    if (textEnd > this.#end) throw new Error(`a text of ${units} units where ${this.#end - start} bytes are left`);
    const isLong = units * unitBytes >= ALONE_BYTES_MIN;
    const windowEnd = isLong ? textEnd : Math.min(start + WINDOW_BYTES, this.#end);
    const text = this.#decode(start, windowEnd);
    this.#next = windowEnd;
    this.#window = isLong ? '' : text;
    this.#taken = isLong ? 0 : units;
    return isLong ? text : text.substring(0, units);
  }

  #decode(start: number, end: number): string {
    if (this.#unitBytes === 1) return this.#source.readNarrow(this.#bytes, start, end);
    return this.#source.readWide(this.#bytes, start, end);
  }
}

const NOTHING = new Uint8Array(0);
/** A whole number of units of either size. */
const WINDOW_BYTES = 8 * 1024;
const ALONE_BYTES_MIN = 1024;
