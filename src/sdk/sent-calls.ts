// Calls that wait for their answer, found by the number they were sent under.
//
// A ring instead of a Map: numbers are given in order and most calls are answered soon, so the low bits of the number
// are a place that is nearly always free. Entering, finding and removing are one look at an array each.
//
// N1  Numbers run from 1 to 2^32 - 1 and then begin anew, past those in use. An answer comes within an hour of its
//     call or never, and no worker makes four thousand million calls in an hour: it can meet no other call.
// N2  At least half of the places are free, so looking for one ends soon.

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

  /** Gives the call its number. */
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

  /** Whether it was there. */
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

  /** Numbers that differ in their low bits still differ in one bit more: no two calls meet in the larger ring. */
  #grow(): void {
    const places = emptyPlaces(2 * this.#places.length);
    for (const call of this.all()) places[call.number & (places.length - 1)] = call;
    this.#places = places;
  }
}

const NUMBER_MAX = 2 ** 32 - 1;
/** A power of two, as its doubles are: that makes the low bits a place. */
const FIRST_PLACES = 64;

function emptyPlaces(count: number): (PendingCall | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
