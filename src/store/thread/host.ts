// The tasks of a store's thread: opening and closing it, and everything but the batches.

import { type OpenedStore, openStore } from '../kv/open-store.ts';
import type { BatchAnswer, StoreAnswer, StoreTask } from './messages.ts';
import { StoreThread } from './thread.ts';

const DONE = { done: true } as const;

export class StoreHost {
  #opened: OpenedStore | undefined;
  #thread: StoreThread | undefined;

  runBatches(batches: readonly ArrayBuffer[]): BatchAnswer[] {
    return this.#thread?.runBatches(batches) ?? batches.map(() => ({ failure: 'The store is not open' }));
  }

  async run(task: Exclude<StoreTask, { kind: 'batch' | 'attach' }>): Promise<StoreAnswer> {
    switch (task.kind) {
      case 'open': {
        const opened = openStore(task.opening);
        if (!opened.ok) return { refusal: opened.message };
        const { isDropIn, limits, newEpoch: run } = task.opening;
        const { epoch, store, space } = opened;
        this.#opened = opened;
        this.#thread = new StoreThread(store, { epoch, run, isDropIn, limits }, space);
        return { epoch };
      }
      case 'clearReaders':
        this.#opened?.disk?.clearStaleReaders();
        this.#opened?.disk?.settle();
        return DONE;
      case 'copy':
        return await this.#copy(task.folder);
      case 'close':
        this.#thread = undefined;
        this.#opened?.close();
        this.#opened = undefined;
        return DONE;
    }
  }

  async #copy(folder: string): Promise<StoreAnswer> {
    const disk = this.#opened?.disk;
    if (disk === undefined) return { refusal: 'A store in memory has nothing to copy' };
    try {
      await disk.copyTo(folder);
      return DONE;
    } catch (error) {
      return { refusal: error instanceof Error ? error.message : String(error) };
    }
  }
}
