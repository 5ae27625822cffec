// The requests that are being handled, by the ids of the channels they offer. References to the two channels of a
// request stand in its object; a channel is made only if a handler takes one (docs/http.md).

import type { FindOffer } from '../../router/channels.ts';
import type { Flight } from './flight.ts';

export class Flights {
  /** By the slot in an id. Slots are used again: a map would grow and shrink with every request. */
  readonly #slots: (Flight | undefined)[] = [];
  /** Which of all requests has the slot, or had it last. */
  readonly #serials: number[] = [];
  readonly #freeSlots: number[] = [];
  /** Sets the ids of this engine apart from those of another, and from all others of its own. */
  readonly #suffix: string;
  #entered = 0;

  constructor(uuid: string) {
    this.#suffix = `-${uuid}`;
  }

  /** Returns its slot. */
  enter(flight: Flight): number {
    const slot = this.#freeSlots.pop() ?? this.#slots.length;
    this.#slots[slot] = flight;
    this.#serials[slot] = ++this.#entered;
    return slot;
  }

  leave(slot: number): void {
    this.#slots[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  /** What follows `BODY_PREFIX` and `ANSWER_PREFIX` in the ids of its channels: a name no other request ever had. */
  nameOf(slot: number): string {
    return `${slot}-${this.#serials[slot]}${this.#suffix}`;
  }

  readonly find: FindOffer = (channelId) => {
    if (!channelId.endsWith(this.#suffix)) return undefined;
    const name = channelId.slice(0, -this.#suffix.length);
    if (name.startsWith(BODY_PREFIX)) return this.#named(name.slice(BODY_PREFIX.length))?.offer('body');
    if (name.startsWith(ANSWER_PREFIX)) return this.#named(name.slice(ANSWER_PREFIX.length))?.offer('answer');
    return undefined;
  };

  check(nowMs: number): void {
    for (const flight of this.#slots) flight?.check(nowMs);
  }

  #named(name: string): Flight | undefined {
    const [slot = '', serial = ''] = name.split('-');
    return this.#serials[Number(slot)] === Number(serial) ? this.#slots[Number(slot)] : undefined;
  }
}

export const BODY_PREFIX = 'http-body-';
export const ANSWER_PREFIX = 'http-answer-';
