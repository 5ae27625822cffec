// The messages between the router's thread and the store's thread. See `workers/store.ts`.

import type { StoreLimits } from './contract.ts';
import type { BatchAnswer } from './thread.ts';

export type StorePlace =
  | {
      readonly kind: 'directory';
      readonly folder: string;
      /** In place of the usual reserve of free space (D4). */
      readonly reserveBytes: number | undefined;
      /** Accept any file system, even one that is not of this machine (D7). */
      readonly anyFileSystem: boolean;
    }
  | { readonly kind: 'memory' };

export interface StoreOpening {
  readonly place: StorePlace;
  readonly isDropIn: boolean;
  readonly limits: StoreLimits;
  /** A unique name: of this run of the engine, and of this incarnation of the store if it is new. */
  readonly newEpoch: string;
}

export type StoreTask =
  | { readonly kind: 'open'; readonly opening: StoreOpening }
  | { readonly kind: 'batch'; readonly batch: ArrayBuffer }
  | { readonly kind: 'clearReaders' }
  | { readonly kind: 'copy'; readonly folder: string }
  | { readonly kind: 'close' };

export type StoreAnswer =
  /** Of a batch: its replies, or why it has none. */
  | BatchAnswer
  /** The answer to opening. */
  | { readonly epoch: string }
  /** Why the store cannot be opened, or copied. */
  | { readonly refusal: string }
  | { readonly done: true };
