// A file for data that does not fit into memory: bytes come out in the order they went in.
//
// Job: take bytes without making the caller wait for the disk, return them in order, and leave nothing on disk
// (R6). The file has no name: it is unlinked as soon as it is open, so the system frees it with the process, however
// that ends. It is used as a ring of fixed size, because a slow reader would let a plain file grow for ever.
//
//   read position        written         staged
//        |------ in the file ----|-- being written --|-- in `#filling` --|
//
// Invariants:
//   - At most two buffers of `STAGE_BYTES` are in memory. Where the disk is slower than the input, `append` writes
//     synchronously and so blocks the event loop: a sender cannot be paused in another way.
//   - Bytes are not read before they are written, and no part of the ring is overwritten before it is read: the caller
//     keeps no more than the ring's size in it.
//   - The descriptor is closed after the last running operation: its number may belong to another file right away.
//   - A failure is final: every later call gets it.

import { closeSync, openSync, read, unlinkSync, write, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from './random.ts';

export interface SpillFile {
  /** Copies the bytes to the end. Throws if the disk failed. */
  append(bytes: Uint8Array): void;
  /**
   * Takes the next bytes out: at least one, at most that many. Waits until there is one. Rejects if the disk failed.
   */
  take(bytesMax: number): Promise<Uint8Array>;
  close(): void;
}

export type OpenSpillFile = (ringBytes: number) => SpillFile;

/** Files go to `SVC_TMP`, else to the system's temporary folder. Opening one throws where that is not writable. */
export function spillFilesIn(random: Random, folder: string = process.env.SVC_TMP || tmpdir()): OpenSpillFile {
  return (ringBytes) => {
    const path = join(folder, `svc-${process.pid}-${random.uuid()}.spill`);
    const descriptor = openSync(path, 'wx+', 0o600);
    try {
      unlinkSync(path);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    return new RingFile(descriptor, ringBytes);
  };
}

class RingFile implements SpillFile {
  readonly #descriptor: number;
  readonly #ringBytes: number;
  /** Positions only rise; the offset in the file is the position modulo the ring's size. */
  #readEnd = 0;
  #writtenEnd = 0;
  /** Where the bytes of `#filling` begin. */
  #stagedStart = 0;
  #filling: Buffer<ArrayBuffer> = Buffer.allocUnsafe(STAGE_BYTES);
  #filledBytes = 0;
  #spare: Buffer<ArrayBuffer> | undefined = Buffer.allocUnsafe(STAGE_BYTES);
  #isWriting = false;
  #isReading = false;
  #isClosed = false;
  #failure: Error | undefined;
  #waiting: Taker | undefined;

  constructor(descriptor: number, ringBytes: number) {
    this.#descriptor = descriptor;
    this.#ringBytes = ringBytes;
  }

  append(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#failure !== undefined) throw this.#failure;
      const part = bytes.subarray(at, at + STAGE_BYTES - this.#filledBytes);
      this.#filling.set(part, this.#filledBytes);
      this.#filledBytes += part.length;
      at += part.length;
      if (!this.#isWriting) this.#startWriting();
      else if (this.#filledBytes === STAGE_BYTES) this.#writeNow();
    }
  }

  take(bytesMax: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#waiting !== undefined) throw new Error('Two readers of one spill file');
      this.#waiting = { bytesMax, resolve, reject };
      this.#serve();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#closeIfIdle();
  }

  /** Writes the gathered bytes to the file, and gathers on in the other buffer. */
  #startWriting(): void {
    const [full, filledBytes] = [this.#filling, this.#filledBytes];
    if (filledBytes === 0 || this.#spare === undefined) return;
    this.#filling = this.#spare;
    this.#spare = undefined;
    this.#filledBytes = 0;
    const start = this.#stagedStart;
    this.#stagedStart += filledBytes;
    this.#isWriting = true;
    this.#write(full, 0, filledBytes, start, (error) => {
      this.#isWriting = false;
      this.#spare = full;
      if (error !== undefined) this.#fail(error);
      // Also what `append` wrote synchronously meanwhile: it lies after this.
      else this.#writtenEnd = this.#stagedStart;
      if (this.#isClosed) this.#closeIfIdle();
      else if (this.#failure === undefined) this.#startWriting();
      this.#serve();
    });
  }

  /**
   * Writes synchronously, so that no third buffer is needed. Its position is after that of the running write, and it
   * becomes readable together with it.
   */
  #writeNow(): void {
    let done = 0;
    try {
      while (done < this.#filledBytes) {
        const { offset, bytesToEnd } = this.#rangeAt(this.#stagedStart + done);
        done += writeSync(
          this.#descriptor,
          this.#filling,
          done,
          Math.min(bytesToEnd, this.#filledBytes - done),
          offset,
        );
      }
    } catch (error) {
      this.#fail(asError(error));
      throw error;
    }
    this.#stagedStart += this.#filledBytes;
    this.#filledBytes = 0;
  }

  #write(bytes: Buffer, at: number, end: number, position: number, done: (error?: Error) => void): void {
    const { offset, bytesToEnd } = this.#rangeAt(position);
    write(this.#descriptor, bytes, at, Math.min(bytesToEnd, end - at), offset, (error, written) => {
      if (error !== null) done(error);
      else if (at + written < end) this.#write(bytes, at + written, end, position + written, done);
      else done();
    });
  }

  /** Answers a waiting reader with the available bytes. */
  #serve(): void {
    const taker = this.#waiting;
    if (taker === undefined || this.#isReading) return;
    const unread = this.#writtenEnd - this.#readEnd;
    if (this.#failure !== undefined && unread === 0) {
      this.#waiting = undefined;
      taker.reject(this.#failure);
    } else if (unread > 0 && !this.#isClosed) this.#read(taker, Math.min(unread, taker.bytesMax));
  }

  #read(taker: Taker, bytesMax: number): void {
    const { offset, bytesToEnd } = this.#rangeAt(this.#readEnd);
    const bytes = Buffer.allocUnsafeSlow(Math.min(bytesMax, bytesToEnd));
    this.#isReading = true;
    read(this.#descriptor, bytes, 0, bytes.length, offset, (error, readBytes) => {
      this.#isReading = false;
      this.#waiting = undefined;
      if (error !== null || readBytes === 0) {
        this.#fail(error ?? new Error('The spill file ended before the end of the data written to it'));
        taker.reject(this.#failure);
      } else {
        this.#readEnd += readBytes;
        taker.resolve(bytes.subarray(0, readBytes));
      }
      if (this.#isClosed) this.#closeIfIdle();
    });
  }

  /** Where a position lies in the file, and how many bytes follow it before the ring wraps. */
  #rangeAt(position: number): { readonly offset: number; readonly bytesToEnd: number } {
    const offset = position % this.#ringBytes;
    return { offset, bytesToEnd: this.#ringBytes - offset };
  }

  #fail(error: Error): void {
    this.#failure ??= error;
  }

  #closeIfIdle(): void {
    if (!this.#isWriting && !this.#isReading) closeSync(this.#descriptor);
  }
}

interface Taker {
  readonly bytesMax: number;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

/** One write. */
const STAGE_BYTES = 256 * 1024;

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
