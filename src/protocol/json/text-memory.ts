// The texts of a payload, one after the other: `TextBytes` collects them, `TextSlices` returns them.
//
// Texts are decoded together by one call and then cut, because a call for each of them costs more than everything else.
// A cut text may keep the text it was cut from in memory. So at most WINDOW_BYTES are decoded together, and a long text
// is decoded alone.

/** Text in memory, in the fastest way the platform has. The caller ensures that the text fits. */
export interface TextMemory {
  /** Uninitialised memory. */
  allocate(bytes: number): Uint8Array;
  /** Writes text as UTF-8 and returns how many bytes that took. */
  write(target: Uint8Array, text: string, at: number): number;
  /** One byte per unit; all units are below 256. */
  writeNarrow(target: Uint8Array, text: string, at: number): void;
  /** Two bytes per unit, little-endian. */
  writeWide(target: Uint8Array, text: string, at: number): void;
  copy(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): void;
  /** The number of bytes that `write` would write. */
  byteLength(text: string): number;
}

export class TextBytes {
  readonly #platform: TextMemory;
  #memory: Uint8Array;
  #length = 0;

  constructor(platform: TextMemory) {
    this.#platform = platform;
    this.#memory = platform.allocate(FIRST_BYTES);
  }

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** Adds a short text unit by unit, which is faster than any call; false if it is not narrow. */
  addShort(text: string): boolean {
    const { length } = text;
    let at = this.#length;
    if (at + length > this.#memory.length) this.#grow(length);
    const memory = this.#memory;
    let bits = 0;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      bits |= unit;
      memory[at++] = unit;
    }
    if (bits > 0xff) return false;
    this.#length = at;
    return true;
  }

  /** Returns false if it is not narrow. */
  addLong(text: string): boolean {
    if (NOT_NARROW.test(text)) return false;
    this.#ensureCapacity(text.length);
    this.#platform.writeNarrow(this.#memory, text, this.#length);
    this.#length += text.length;
    return true;
  }

  addWide(text: string): void {
    const bytes = 2 * text.length;
    this.#ensureCapacity(bytes);
    this.#platform.writeWide(this.#memory, text, this.#length);
    this.#length += bytes;
  }

  /** Returns the end of the copy. */
  copyTo(target: Uint8Array, at: number): number {
    if (this.#length > 0) this.#platform.copy(this.#memory, 0, this.#length, target, at);
    return at + this.#length;
  }

  #ensureCapacity(bytes: number): void {
    if (this.#length + bytes > this.#memory.length) this.#grow(bytes);
  }

  #grow(bytes: number): void {
    const grown = this.#platform.allocate(Math.max(this.#length + bytes, 2 * this.#memory.length));
    grown.set(this.#memory.subarray(0, this.#length));
    this.#memory = grown;
  }
}

const FIRST_BYTES = 4 * 1024;
/** Fast on a text that V8 stores in one byte per unit. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the class is "anything that takes more than a byte".
const NOT_NARROW = /[^\u0000-\u00ff]/;

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
