// Reads what `batch-writer.ts` wrote, on the store's thread. Both ends are of one version: no check that cannot fail.

import { BATCH_HEADER_BYTES, COMMAND_FLAG, COMMAND_HEADER_BYTES } from './batch-writer.ts';

export class BatchReader {
  readonly count: number;
  readonly nowMs: number;
  readonly bytes: number;
  readonly #block: Buffer;
  #at = BATCH_HEADER_BYTES;
  /** Of the command that `next` came to. */
  command = 0;
  wantsEvents = false;
  input: Buffer = Buffer.alloc(0);

  constructor(batch: ArrayBuffer) {
    this.#block = Buffer.from(batch);
    this.count = this.#block.readUInt32LE(0);
    this.bytes = this.#block.readUInt32LE(4);
    this.nowMs = this.#block.readDoubleLE(8);
  }

  next(): void {
    const block = this.#block;
    this.command = block[this.#at] ?? 0;
    this.wantsEvents = ((block[this.#at + 1] ?? 0) & COMMAND_FLAG.wantsEvents) !== 0;
    const start = this.#at + COMMAND_HEADER_BYTES;
    this.#at = start + block.readUInt32LE(this.#at + 2);
    this.input = block.subarray(start, this.#at);
  }

  /** To the first command again: a transaction that found no room is run once more. */
  rewind(): void {
    this.#at = BATCH_HEADER_BYTES;
  }
}
