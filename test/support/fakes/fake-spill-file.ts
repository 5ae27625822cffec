// A spill file without a disk. Reads end at once or when the test ends them, and the file can fail.

import type { OpenSpillFile, SpillFile } from '../../../src/effects/spill-file.ts';

interface Taker {
  readonly bytesMax: number;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

export class FakeSpillFiles {
  /** Every opened file, oldest first. */
  readonly files: FakeSpillFile[] = [];
  /** True: opening and appending fail. */
  failure: Error | undefined;

  readonly open: OpenSpillFile = (ringBytes) => {
    if (this.failure !== undefined) throw this.failure;
    const file = new FakeSpillFile(ringBytes, () => this.failure);
    this.files.push(file);
    return file;
  };

  get openCount(): number {
    return this.files.filter(({ isOpen }) => isOpen).length;
  }
}

export class FakeSpillFile implements SpillFile {
  readonly ringBytes: number;
  isOpen = true;
  #content = new Uint8Array(0);
  #taker: Taker | undefined;
  readonly #failure: () => Error | undefined;

  constructor(ringBytes: number, failure: () => Error | undefined) {
    this.ringBytes = ringBytes;
    this.#failure = failure;
  }

  get bytes(): number {
    return this.#content.length;
  }

  append(bytes: Uint8Array): void {
    const failure = this.#failure();
    if (failure !== undefined) throw failure;
    if (!this.isOpen) throw new Error('Appended to a closed spill file');
    this.#content = Buffer.concat([this.#content, bytes]);
    if (this.#content.length > this.ringBytes) throw new Error('The spill file overflows');
    this.#serve();
  }

  take(bytesMax: number): Promise<Uint8Array> {
    if (this.#taker !== undefined) throw new Error('Two readers of one spill file');
    return new Promise((resolve, reject) => {
      this.#taker = { bytesMax, resolve, reject };
      this.#serve();
    });
  }

  close(): void {
    if (!this.isOpen) throw new Error('Closed a spill file twice');
    this.isOpen = false;
  }

  #serve(): void {
    const taker = this.#taker;
    if (taker === undefined || this.#content.length === 0) return;
    this.#taker = undefined;
    const failure = this.#failure();
    if (failure !== undefined) {
      taker.reject(failure);
      return;
    }
    const bytes = this.#content.slice(0, taker.bytesMax);
    this.#content = this.#content.slice(bytes.length);
    taker.resolve(bytes);
  }
}
