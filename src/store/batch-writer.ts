// Commands on their way to the store's thread: all of a turn in one block of bytes, read by `batch-reader.ts`.
//
//   u32 count · u32 bytes used · f64 time of day
//   and for each command: u8 its place in the table · u8 flags · u32 length of the input · input
//
// The block is handed over, not copied: every batch has a block of its own. Numbers are little end first.

export const BATCH_HEADER_BYTES = 16;
export const COMMAND_HEADER_BYTES = 6;
export const COMMAND_FLAG = { wantsEvents: 1 } as const;

const FIRST_BLOCK_BYTES = 16 * 1024;

export class BatchWriter {
  #block: Buffer<ArrayBuffer> = Buffer.alloc(0);
  #used = BATCH_HEADER_BYTES;
  #count = 0;
  /** Blocks begin as large as the last ones came to be. */
  #usualBytes = FIRST_BLOCK_BYTES;

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#used;
  }

  add(command: number, wantsEvents: boolean, input: Uint8Array): void {
    this.#makeRoom(COMMAND_HEADER_BYTES + input.length);
    const block = this.#block;
    block[this.#used] = command;
    block[this.#used + 1] = wantsEvents ? COMMAND_FLAG.wantsEvents : 0;
    block.writeUInt32LE(input.length, this.#used + 2);
    block.set(input, this.#used + COMMAND_HEADER_BYTES);
    this.#used += COMMAND_HEADER_BYTES + input.length;
    this.#count++;
  }

  /** The batch, and an empty writer. */
  take(nowMs: number): ArrayBuffer {
    this.#block.writeUInt32LE(this.#count, 0);
    this.#block.writeUInt32LE(this.#used, 4);
    this.#block.writeDoubleLE(nowMs, 8);
    const taken = this.#block.buffer;
    this.#usualBytes = Math.max(FIRST_BLOCK_BYTES, Math.min(this.#used * 2, USUAL_BYTES_MAX));
    this.#block = Buffer.alloc(0);
    this.#used = BATCH_HEADER_BYTES;
    this.#count = 0;
    return taken;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#block.length) return;
    const size = Math.max(this.#usualBytes, this.#block.length * 2, needed);
    // A block of its own, since it is given away; not from Node's pool, which others use too.
    const grown = Buffer.allocUnsafeSlow(size);
    this.#block.copy(grown, 0, 0, this.#used);
    this.#block = grown;
  }
}

const USUAL_BYTES_MAX = 1024 * 1024;
