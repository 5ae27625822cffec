// All deadlines of a worker on one timer: a call costs two links in a ring of lists instead of a timer of its own.
//
// Neighbours: `outgoing-calls.ts` adds the calls that wait for an answer, `invocation.ts` the deadlines of handlers
// that read their signal. Time comes from the platform's clock.
//
// - An entry is in at most one list, and in none after it was removed or has expired.
// - An entry never expires early. On an idle machine it is at most one tick late, or two if it was added loosely.
// - The timer runs only while there are entries, and never keeps the process alive.

import type { PlatformClock } from '../worker/platform.ts';

/** Something with a deadline. Lives in the wheel between `add` and `remove` or `expire`. */
export abstract class Deadline {
  /** Links of the list; they point to the entry itself when it is in no list. */
  next: Deadline = this;
  previous: Deadline = this;
  dueTick = 0;
  /** Valid until the entry has its place. */
  delayMs = 0;

  /** The deadline passed. Called once per `add`, after the entry has left the wheel. */
  abstract expire(): void;
}

/** A set of deadlines. */
export interface Deadlines {
  add(entry: Deadline, delayMs: number): void;
  /** For deadlines that few entries reach: they may expire slightly later. */
  addLoosely(entry: Deadline, delayMs: number): void;
  /** Does nothing for an entry that is not in the set. */
  remove(entry: Deadline): void;
}

export class DeadlineWheel implements Deadlines {
  readonly #clock: PlatformClock;
  readonly #slots: Deadline[] = Array.from({ length: SLOTS }, () => new ListHead());
  /** Entries added loosely since the last tick. The next tick gives a place to those that still exist. */
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

  /** For deadlines that few entries reach: it does not read the clock, which costs more than everything else here. */
  addLoosely(entry: Deadline, delayMs: number): void {
    if (!this.#isTicking) this.#start();
    entry.delayMs = delayMs;
    append(entry, this.#arrivals);
    this.#size++;
  }

  /** Does nothing for an entry that is not in the wheel. */
  remove(entry: Deadline): void {
    if (entry.next === entry) {
      // It may be among the entries that expire right now, after the one whose expiry removes it.
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
    // After the event loop was blocked for long, one round over all lists reaches every entry that is due.
    const first = Math.max(this.#tick + 1, nowTick - SLOTS + 1);
    this.#tick = nowTick;
    // Place arrivals before anything expires: entries that expiry code adds arrive later than `nowMs` and would be
    // placed too early.
    for (let entry = this.#arrivals.next; entry !== this.#arrivals; entry = this.#arrivals.next) {
      unlink(entry);
      this.#place(entry, nowMs, entry.delayMs);
    }
    for (let tick = first; tick <= nowTick; tick++) this.#expireSlot(this.#slot(tick), nowTick);
  }

  #expireSlot(head: Deadline, nowTick: number): void {
    // Detach the list first: code that runs on expiry may add to it and remove from it.
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
/** An integer like all the others: one infinite value would make V8 store the field as a float in every entry. */
const NEVER = -1;
/** One round is 51.2 s, so the usual deadline of 30 s is reached in the first round. */
const SLOTS = 1024;
