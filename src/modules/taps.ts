// Where modules let others watch what they do. Nobody watches: nothing is made for it, and asking costs one comparison.

import type { StoreEvent } from '../store/contract.ts';

export class Tap<T> {
  readonly #watchers = new Set<(item: T) => void>();

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  tell(item: T): void {
    for (const watch of this.#watchers) watch(item);
  }

  /** Returns what ends it. */
  watch(watcher: (item: T) => void): () => void {
    // Two watchers may be the same function: each is a wish of its own.
    const own = (item: T): void => watcher(item);
    this.#watchers.add(own);
    return () => this.#watchers.delete(own);
  }
}

/** What the stream server sends or hears. */
export interface StreamMessage {
  readonly direction: 'inbound' | 'outbound';
  readonly stream: string;
  readonly group: string;
  readonly item: string | undefined;
  /** `create`, `update`, `delete`, `event`, `join`, `leave`. */
  readonly event: string;
  /** The message as JSON; valid during the call. */
  readonly body: Uint8Array;
  readonly seq: number | undefined;
  /** How many clients it goes to. */
  readonly receivers: number;
}

export interface StreamSubscriber {
  readonly id: string;
  readonly address: string | null;
  readonly sinceMs: number;
  readonly bufferedBytes: number;
  readonly item: string | null;
}

export class Taps {
  /** Changes of state entries that this engine's callers made. */
  readonly state = new Tap<StoreEvent>();
  readonly streams = new Tap<StreamMessage>();
  /** Who is subscribed to a group, or, without one, how many to each; absent without a stream server. */
  streamSubscribers: ((stream: string, group: string) => readonly StreamSubscriber[]) | undefined;
}
