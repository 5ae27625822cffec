// Lets other modules watch what a module does. Without a watcher no item is built, and the check costs one comparison.

import type { SourceGauges, TelemetryBatch } from '../core/telemetry/records/intake.ts';
import type { StoreEvent } from '../store/thread/contract.ts';

export class Tap<T> {
  readonly #watchers = new Set<(item: T) => void>();
  /** Called when `isWatched` may have changed. */
  watchersChanged: () => void = () => {};

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  publish(item: T): void {
    for (const watch of this.#watchers) watch(item);
  }

  /** Returns a function that ends it. */
  watch(watcher: (item: T) => void): () => void {
    // Two watchers may be the same function, and are counted separately.
    const own = (item: T): void => watcher(item);
    this.#watchers.add(own);
    this.watchersChanged();
    return () => {
      this.#watchers.delete(own);
      this.watchersChanged();
    };
  }
}

/** A message that the stream server sends or receives. */
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
  /** The number of clients it is sent to. */
  readonly receivers: number;
}

export interface StreamSubscriber {
  readonly id: string;
  readonly address: string | null;
  readonly sinceMs: number;
  readonly bufferedBytes: number;
  readonly item: string | null;
}

export interface StreamSubscribers {
  /** On all routers. */
  of(stream: string, group: string): Promise<readonly StreamSubscriber[]>;
  count(stream: string, group: string): number;
  /** The groups that have any. */
  groups(): readonly { readonly stream: string; readonly group: string }[];
}

export class Taps {
  /** Changes of state entries made through this engine. */
  readonly state = new Tap<StoreEvent>();
  readonly streams = new Tap<StreamMessage>();
  /** What further routers of this process observed. */
  readonly batches = new Tap<TelemetryBatch>();
  /** What connections of further routers reported about their processes; absent: there are none. */
  noteGaugesOfOthers: ((gauges: readonly SourceGauges[]) => void) | undefined;
  /** Absent without a stream server. */
  streamSubscribers: StreamSubscribers | undefined;
}
