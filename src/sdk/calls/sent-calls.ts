// Calls that wait for their answer, found by the number under which they were sent.
//
// A ring instead of a Map: numbers are assigned in order and most calls are answered soon, so the low bits of the
// number give a place that is nearly always free. Adding, finding and removing are one array access each.
//
// - Numbers run from 1 to 2^32 - 1 and then start again from 1, skipping those in use. An answer arrives within an
//   hour of its call or never, and no worker makes four thousand million calls in an hour, so no answer can meet
//   another call.
// - At least half of the places are free, so the search for a free place ends soon.

import type { PendingCall } from './pending-call.ts';

export class SentCalls {
  #places: (PendingCall | undefined)[] = emptyPlaces(FIRST_PLACES);
  #size = 0;
  #lastNumber: number;

  constructor(lastNumber = 0) {
    this.#lastNumber = lastNumber;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds the call and assigns its number. */
  add(call: PendingCall): void {
    if (2 * this.#size >= this.#places.length) this.#grow();
    const places = this.#places;
    let number = this.#lastNumber;
    do {
      number = number === NUMBER_MAX ? 1 : number + 1;
    } while (places[number & (places.length - 1)] !== undefined);
    this.#lastNumber = number;
    call.number = number;
    places[number & (places.length - 1)] = call;
    this.#size++;
  }

  find(number: number): PendingCall | undefined {
    const call = this.#places[number & (this.#places.length - 1)];
    return call?.number === number ? call : undefined;
  }

  /** Returns whether the call was there. */
  remove(call: PendingCall): boolean {
    const place = call.number & (this.#places.length - 1);
    if (this.#places[place] !== call) return false;
    this.#places[place] = undefined;
    this.#size--;
    return true;
  }

  all(): PendingCall[] {
    return this.#places.filter((call) => call !== undefined);
  }

  /** Numbers that differ in their low bits also differ with one bit more: no two calls collide in the larger ring. */
  #grow(): void {
    const places = emptyPlaces(2 * this.#places.length);
    for (const call of this.all()) places[call.number & (places.length - 1)] = call;
    this.#places = places;
  }
}

const NUMBER_MAX = 2 ** 32 - 1;
/** A power of two, and so is each doubling: the low bits of a number are then its place. */
const FIRST_PLACES = 64;

function emptyPlaces(count: number): (PendingCall | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
