// One subscription of a live socket: gathers what its topic brings and sends it in batches (LIV-2).
//
// Invariants:
//   S1  `seq` of what is sent has no holes: what was left out is told by a gap in its place (LIV-5).
//   S2  Nothing is kept for a subscriber that does not read: it is counted, and dropped.

import { LIVE_BATCH } from '../../../console-api/live.ts';
import { asByteString, type ByteString, quoted, type RawJson, rawJson } from '../../../protocol/byte-string.ts';

/** What a subscription needs of its connection. */
export interface LiveOutlet {
  /** Bytes that the peer has not taken. */
  readonly bufferedBytes: number;
  send(frame: ByteString): void;
  /** Runs `act` after so many milliseconds; returns how to cancel it. */
  after(ms: number, act: () => void): () => void;
}

/** Unread bytes of a connection, above which it gets gaps in place of items. */
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
  /** Ends the topic's work for it. */
  close: () => void = () => {};

  constructor(id: number, outlet: LiveOutlet) {
    this.id = id;
    this.#outlet = outlet;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The topic was opened; what follows comes behind `cursor`. */
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

  /** So many items were left out by whoever brings them. */
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
    if (this.#dropped > 0) this.#tellGap();
  }

  /** As soon as there is room for it: behind what was sent, before what comes next. */
  #tellGap(): void {
    if (this.#outlet.bufferedBytes > UNREAD_BYTES_MAX) {
      this.#cancelFlush = this.#outlet.after(LIVE_BATCH.ms, () => this.#flush());
      return;
    }
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#outlet.send(asByteString(`{"id":${this.id},"seq":${++this.#seq},"gap":{"dropped":${dropped}}}`));
  }
}
