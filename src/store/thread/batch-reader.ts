// Reads what `batch-writer.ts` wrote, on the store's thread. Both ends have the same version, so it is not validated.

import { BATCH_HEADER_BYTES, COMMAND_FLAG, COMMAND_HEADER_BYTES, TRACE_HEADER_BYTES } from './batch-writer.ts';

export class BatchReader {
  readonly count: number;
  readonly nowMs: number;
  readonly monotonicMs: number;
  readonly bytes: number;
  readonly #block: Buffer;
  #at = BATCH_HEADER_BYTES;
  /** The command that `next` moved to. */
  command = 0;
  wantsEvents = false;
  input: Buffer = Buffer.alloc(0);
  trace: string | undefined;

  constructor(batch: ArrayBuffer) {
    this.#block = Buffer.from(batch);
    this.count = this.#block.readUInt32LE(0);
    this.bytes = this.#block.readUInt32LE(4);
    this.nowMs = this.#block.readDoubleLE(8);
    this.monotonicMs = this.#block.readDoubleLE(16);
  }

  next(): void {
    const block = this.#block;
    this.command = block[this.#at] ?? 0;
    const flags = block[this.#at + 1] ?? 0;
    this.wantsEvents = (flags & COMMAND_FLAG.wantsEvents) !== 0;
    const start = this.#at + COMMAND_HEADER_BYTES;
    this.#at = start + block.readUInt32LE(this.#at + 2);
    this.input = block.subarray(start, this.#at);
    this.trace = (flags & COMMAND_FLAG.hasTrace) === 0 ? undefined : this.#readTrace();
  }

  #readTrace(): string {
    const start = this.#at + TRACE_HEADER_BYTES;
    this.#at = start + this.#block.readUInt32LE(this.#at);
    return this.#block.toString('utf8', start, this.#at);
  }

  /** Back to the first command: a transaction that found no room is run again. */
  rewind(): void {
    this.#at = BATCH_HEADER_BYTES;
  }
}
