// Encodes the commands of one turn for the store's thread as one block of bytes; `batch-reader.ts` reads it.
//
//   u32 count · u32 bytes used · f64 time of day · f64 the monotonic clock, whole milliseconds
//   and for each command: u8 its index in the table · u8 flags · u32 length of the input · input
//   and if the flags say so: u32 length of the trace · trace
//
// The block is transferred, not copied: every batch has a block of its own. Numbers are little-endian.

export const BATCH_HEADER_BYTES = 24;
export const COMMAND_HEADER_BYTES = 6;
export const COMMAND_FLAG = { wantsEvents: 1, hasTrace: 2 } as const;
export const TRACE_HEADER_BYTES = 4;

/** The bytes that a command takes in a batch. */
export function commandBytes(input: Uint8Array, trace: Uint8Array | undefined): number {
  const traceBytes = trace === undefined ? 0 : TRACE_HEADER_BYTES + trace.length;
  return COMMAND_HEADER_BYTES + input.length + traceBytes;
}

const FIRST_BLOCK_BYTES = 16 * 1024;

/** The time at which a batch leaves, by both clocks. */
export interface BatchMoment {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

export class BatchWriter {
  #block: Buffer<ArrayBuffer> = Buffer.alloc(0);
  #used = BATCH_HEADER_BYTES;
  #count = 0;
  /** New blocks are as large as the last ones became. */
  #usualBytes = FIRST_BLOCK_BYTES;

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#used;
  }

  /** Adds the whole command or, if memory ends, nothing of it: half of one would be read as another. */
  add(command: number, wantsEvents: boolean, input: Uint8Array, trace?: Uint8Array): void {
    this.#makeRoom(commandBytes(input, trace));
    const block = this.#block;
    block[this.#used] = command;
    const hasTrace = trace === undefined ? 0 : COMMAND_FLAG.hasTrace;
    block[this.#used + 1] = (wantsEvents ? COMMAND_FLAG.wantsEvents : 0) | hasTrace;
    block.writeUInt32LE(input.length, this.#used + 2);
    block.set(input, this.#used + COMMAND_HEADER_BYTES);
    this.#used += COMMAND_HEADER_BYTES + input.length;
    this.#count++;
    if (trace === undefined) return;
    block.writeUInt32LE(trace.length, this.#used);
    block.set(trace, this.#used + TRACE_HEADER_BYTES);
    this.#used += TRACE_HEADER_BYTES + trace.length;
  }

  /** The batch, and an empty writer. */
  take({ nowMs, monotonicMs }: BatchMoment): ArrayBuffer {
    this.#block.writeUInt32LE(this.#count, 0);
    this.#block.writeUInt32LE(this.#used, 4);
    this.#block.writeDoubleLE(nowMs, 8);
    this.#block.writeDoubleLE(Math.floor(monotonicMs), 16);
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
    // A block of its own, because it is transferred; not from Node's pool, which other code uses too.
    const grown = Buffer.allocUnsafeSlow(size);
    this.#block.copy(grown, 0, 0, this.#used);
    this.#block = grown;
  }
}

const USUAL_BYTES_MAX = 1024 * 1024;
