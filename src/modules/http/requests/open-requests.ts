// The requests that are being handled, by the ids of the channels they offer. The object of a request contains
// references to its two channels; a channel is created only if a handler takes one (docs/http.md).

import { ANSWER_PREFIX, BODY_PREFIX } from '../../../protocol/http/record-layout.ts';
import type { FindOffer, OfferedChannel } from '../../../router/channels/channels.ts';

export interface OpenRequest {
  /** A channel of this request that a client wants to take, if it is still available. */
  offer(end: 'body' | 'answer'): OfferedChannel | undefined;
  /** Called periodically: ends what nothing else ends in time. */
  check(nowMs: number): void;
}

export class OpenRequests {
  /** By the slot in an id. Slots are reused: a map would grow and shrink with every request. */
  readonly #slots: (OpenRequest | undefined)[] = [];
  /** The serial number of the request that has the slot, or had it last. */
  readonly #serials: number[] = [];
  readonly #freeSlots: number[] = [];
  /** Distinguishes the ids of this engine from those of other engines, and from other ids of its own. */
  readonly suffix: string;
  #entered = 0;

  constructor(uuid: string) {
    this.suffix = `-${uuid}`;
  }

  /** Returns the slot. */
  enter(request: OpenRequest): number {
    const slot = this.#freeSlots.pop() ?? this.#slots.length;
    this.#slots[slot] = request;
    this.#serials[slot] = ++this.#entered;
    return slot;
  }

  leave(slot: number): void {
    this.#slots[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  /**
   * The part between prefix and suffix in the ids of its channels: a name that no other request of this engine had.
   */
  nameOf(slot: number): string {
    return `${slot}-${this.#serials[slot]}`;
  }

  readonly find: FindOffer = (channelId) => {
    if (!channelId.endsWith(this.suffix)) return undefined;
    const name = channelId.slice(0, -this.suffix.length);
    if (name.startsWith(BODY_PREFIX)) return this.#named(name.slice(BODY_PREFIX.length))?.offer('body');
    if (name.startsWith(ANSWER_PREFIX)) return this.#named(name.slice(ANSWER_PREFIX.length))?.offer('answer');
    return undefined;
  };

  check(nowMs: number): void {
    for (const request of this.#slots) request?.check(nowMs);
  }

  #named(name: string): OpenRequest | undefined {
    const [slot = '', serial = ''] = name.split('-');
    return this.#serials[Number(slot)] === Number(serial) ? this.#slots[Number(slot)] : undefined;
  }
}
