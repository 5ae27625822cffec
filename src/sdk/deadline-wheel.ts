// All deadlines of a worker on one timer: a call costs two links in a ring of lists instead of a timer of its own.
//
// Neighbours: `outgoing-calls.ts` enters the calls it waits for, `invocation.ts` the deadlines of handlers that asked
// for a signal. Time comes from the platform's clock.
//
// D1  An entry is in at most one list, and in none once it was removed or has expired.
// D2  An entry never expires early; late by at most one tick on an idle machine, by two if it was added loosely.
// D3  The timer runs only while there are entries, and never keeps the process alive.

import type { PlatformClock } from './platform.ts';

/** Something with a deadline. Lives in the wheel between `add` and `remove` or `expire`. */
export abstract class Deadline {
  /** Links of the list; the entry itself when it is in none. */
  next: Deadline = this;
  previous: Deadline = this;
  dueTick = 0;
  /** Until it has its place. */
  delayMs = 0;

  /** The deadline passed. Called once per `add`, after the entry has left the wheel. */
  abstract expire(): void;
}

/** Where deadlines are kept. */
export interface Deadlines {
  add(entry: Deadline, delayMs: number): void;
  /** For deadlines that few entries live to see: may be a little later. */
  addLoosely(entry: Deadline, delayMs: number): void;
  /** Does nothing for an entry that is not there. */
  remove(entry: Deadline): void;
}

export class DeadlineWheel implements Deadlines {
  readonly #clock: PlatformClock;
  readonly #slots: Deadline[] = Array.from({ length: SLOTS }, () => new ListHead());
  /** Added loosely since the last tick: they get their place at the next one, if they live to see it. */
  readonly #arrivals: Deadline = new ListHead();
  #size = 0;
  /** The last tick whose entries have expired. */
  #tick = 0;
  #isTicking = false;

  constructor(clock: PlatformClock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#size;
  }

  add(entry: Deadline, delayMs: number): void {
    if (!this.#isTicking) this.#start();
    this.#place(entry, this.#clock.monotonicMs(), delayMs);
    this.#size++;
  }

  /** For deadlines that few entries live to see: does not look at the clock, which costs more than all the rest. */
  addLoosely(entry: Deadline, delayMs: number): void {
    if (!this.#isTicking) this.#start();
    entry.delayMs = delayMs;
    append(entry, this.#arrivals);
    this.#size++;
  }

  /** Does nothing for an entry that is not in the wheel. */
  remove(entry: Deadline): void {
    if (entry.next === entry) {
      // It may be among those that expire right now, behind the one whose expiry removes it.
      entry.dueTick = NEVER;
      return;
    }
    unlink(entry);
    this.#size--;
  }

  #start(): void {
    this.#tick = Math.floor(this.#clock.monotonicMs() / TICK_MS);
    this.#wait();
  }

  #place(entry: Deadline, nowMs: number, delayMs: number): void {
    entry.dueTick = Math.max(this.#tick + 1, Math.ceil((nowMs + delayMs) / TICK_MS));
    append(entry, this.#slot(entry.dueTick));
  }

  #wait(): void {
    this.#isTicking = true;
    this.#clock.after(TICK_MS, () => {
      this.#advance();
      if (this.#size > 0) this.#wait();
      else this.#isTicking = false;
    });
  }

  #advance(): void {
    const nowMs = this.#clock.monotonicMs();
    const nowTick = Math.floor(nowMs / TICK_MS);
    // After a long block of the event loop one round over all lists sees every entry that is due.
    const first = Math.max(this.#tick + 1, nowTick - SLOTS + 1);
    this.#tick = nowTick;
    // Before anything expires: what that adds was not there at `nowMs`, and would be placed too early.
    for (let entry = this.#arrivals.next; entry !== this.#arrivals; entry = this.#arrivals.next) {
      unlink(entry);
      this.#place(entry, nowMs, entry.delayMs);
    }
    for (let tick = first; tick <= nowTick; tick++) this.#expireSlot(this.#slot(tick), nowTick);
  }

  #expireSlot(head: Deadline, nowTick: number): void {
    // Taken out first: what expires may run foreign code, which may add to this list and remove from it.
    const due: Deadline[] = [];
    for (let entry = head.next; entry !== head; ) {
      const { next } = entry;
      if (entry.dueTick <= nowTick) {
        this.remove(entry);
        due.push(entry);
      }
      entry = next;
    }
    for (const entry of due) if (entry.dueTick !== NEVER && entry.dueTick <= nowTick) entry.expire();
  }

  #slot(tick: number): Deadline {
    const head = this.#slots[tick % SLOTS];
    if (head === undefined) throw new Error(`deadline wheel: tick ${tick} has no slot`);
    return head;
  }
}

function append(entry: Deadline, head: Deadline): void {
  entry.previous = head.previous;
  entry.next = head;
  head.previous.next = entry;
  head.previous = entry;
}

function unlink(entry: Deadline): void {
  entry.previous.next = entry.next;
  entry.next.previous = entry.previous;
  entry.next = entry;
  entry.previous = entry;
}

class ListHead extends Deadline {
  override expire(): void {
    throw new Error('deadline wheel: the head of a list expired');
  }
}

const TICK_MS = 50;
/** A whole number like all the others: one infinite field would make V8 keep it as a float in every entry. */
const NEVER = -1;
/** One round is 51.2 s: the usual deadline of 30 s is met without a second look. */
const SLOTS = 1024;
