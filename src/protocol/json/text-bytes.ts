// Collects texts for a payload, one after the other.

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
    this.#makeRoom(text.length);
    this.#platform.writeNarrow(this.#memory, text, this.#length);
    this.#length += text.length;
    return true;
  }

  addWide(text: string): void {
    const bytes = 2 * text.length;
    this.#makeRoom(bytes);
    this.#platform.writeWide(this.#memory, text, this.#length);
    this.#length += bytes;
  }

  /** Returns the end of the copy. */
  copyTo(target: Uint8Array, at: number): number {
    if (this.#length > 0) this.#platform.copy(this.#memory, 0, this.#length, target, at);
    return at + this.#length;
  }

  #makeRoom(bytes: number): void {
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
