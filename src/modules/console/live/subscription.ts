// One subscription of a live socket: gathers the items of its topic and sends them in batches (LIV-2).
//
// Invariants:
// - `seq` has no holes: where items were left out, a gap is sent in their place (LIV-5).
// - Nothing is kept for a subscriber that does not read: its items are counted and dropped.

import { LIVE_BATCH, type LiveFilter } from '../../../console/api/live.ts';
import { asByteString, type ByteString, quoted, type RawJson, rawJson } from '../../../protocol/json/byte-string.ts';

/** What a subscription needs of its connection. */
export interface LiveOutlet {
  /** Bytes that the browser has not taken yet. */
  readonly bufferedBytes: number;
  send(frame: ByteString): void;
  /** Runs `act` after that many milliseconds. Returns a function that cancels it. */
  after(ms: number, act: () => void): () => void;
}

/** Above this many unread bytes, a connection gets gaps in place of items. */
export const UNREAD_BYTES_MAX = 1024 * 1024;

export class LiveSubscription {
  readonly id: number;
  readonly #outlet: LiveOutlet;
  #seq = 0;
  #items: RawJson[] = [];
  #bytes = 0;
  #dropped = 0;
  #cursor: string | undefined;
  #cancelFlush: (() => void) | undefined;
  #isOver = false;
  /** Stops the topic's work for it. */
  close: () => void = () => {};

  constructor(id: number, outlet: LiveOutlet) {
    this.id = id;
    this.#outlet = outlet;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The topic was opened. The items that follow come after `cursor`. */
  opened(topic: string, cursor: string | null): void {
    const subscribed = rawJson({ topic, cursor });
    this.#outlet.send(asByteString(`{"id":${this.id},"seq":0,"subscribed":${subscribed}}`));
  }

  push(item: RawJson, cursor?: string): void {
    if (this.#isOver) return;
    if (cursor !== undefined) this.#cursor = cursor;
    if (this.#outlet.bufferedBytes > UNREAD_BYTES_MAX) this.#dropped++;
    else {
      this.#items.push(item);
      this.#bytes += item.length;
    }
    if (this.#items.length >= LIVE_BATCH.items || this.#bytes >= LIVE_BATCH.bytes) return this.#flush();
    this.#cancelFlush ??= this.#outlet.after(LIVE_BATCH.ms, () => this.#flush());
  }

  /** Reports how many items the source left out. */
  drop(count: number): void {
    this.#dropped += count;
    this.#cancelFlush ??= this.#outlet.after(LIVE_BATCH.ms, () => this.#flush());
  }

  /** Nothing more is sent. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelFlush?.();
    this.#items = [];
    this.close();
  }

  #flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    if (this.#isOver) return;
    const items = this.#items;
    this.#items = [];
    this.#bytes = 0;
    if (items.length > 0) {
      const cursor = this.#cursor === undefined ? '' : `,"cursor":${quoted(this.#cursor)}`;
      this.#outlet.send(asByteString(`{"id":${this.id},"seq":${++this.#seq},"items":[${items.join(',')}]${cursor}}`));
    }
    if (this.#dropped > 0) this.#sendGap();
  }

  /** Sent as soon as there is room: after what was sent, before what comes next. */
  #sendGap(): void {
    if (this.#outlet.bufferedBytes > UNREAD_BYTES_MAX) {
      this.#cancelFlush = this.#outlet.after(LIVE_BATCH.ms, () => this.#flush());
      return;
    }
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#outlet.send(asByteString(`{"id":${this.id},"seq":${++this.#seq},"gap":{"dropped":${dropped}}}`));
  }
}

/** A request for a topic, and the subscription that it gets. */
export interface Opening {
  readonly topic: string;
  readonly filter: LiveFilter;
  readonly since: string | undefined;
  readonly subscription: LiveSubscription;
  /** The topic could not be opened, or cannot continue. */
  failed(error: unknown): void;
}
