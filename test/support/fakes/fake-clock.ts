// A clock that only a test moves. Each timer runs in its own turn, as in the real event loop, after the work that was
// deferred to the end of the turn before.

import type { Clock } from '../../../src/effects/clock.ts';

interface Timer {
  readonly task: () => void;
  /** Set for a repeated timer. */
  readonly intervalMs: number | undefined;
  readonly order: number;
  dueMs: number;
}

export interface FakeClockOptions {
  /** Wall-clock time at the start, Unix milliseconds. */
  readonly startMs?: number;
  /** Real timers run a little late, and repeated ones start again at that time. */
  readonly timerLatenessMs?: number;
}

export class FakeClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #timerLatenessMs: number;
  #turnTasks: (() => void)[] = [];
  #wallMs: number;
  #elapsedMs = 0;
  #order = 0;

  constructor({ startMs = Date.UTC(2026, 0, 1), timerLatenessMs = 0 }: FakeClockOptions = {}) {
    this.#wallMs = startMs;
    this.#timerLatenessMs = timerLatenessMs;
  }

  nowMs(): number {
    return this.#wallMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  every(intervalMs: number, task: () => void): () => void {
    return this.#start(intervalMs, intervalMs, task);
  }

  after(delayMs: number, task: () => void): () => void {
    return this.#start(delayMs, undefined, task);
  }

  afterTurn(task: () => void): void {
    this.#turnTasks.push(task);
  }

  /** The number of running timers: none may remain when a test has stopped what it started. */
  get timerCount(): number {
    return this.#timers.size;
  }

  /** Ends the present turn: deferred work runs, and the work that it defers. */
  flush(): void {
    while (this.#turnTasks.length > 0) {
      const tasks = this.#turnTasks;
      this.#turnTasks = [];
      for (const task of tasks) task();
    }
  }

  /** Moves the clock; every timer that falls due runs at its own moment. */
  advance(ms: number): void {
    const endMs = this.#elapsedMs + ms;
    this.flush();
    for (let timer = this.#nextDue(endMs); timer !== undefined; timer = this.#nextDue(endMs)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs);
      if (timer.intervalMs === undefined) this.#timers.delete(timer);
      else timer.dueMs = this.#elapsedMs + timer.intervalMs + this.#timerLatenessMs;
      timer.task();
      this.flush();
    }
    this.#elapsedMs = endMs;
  }

  /** Blocks the event loop: time passes, and every timer is late. */
  stall(ms: number): void {
    this.#elapsedMs += ms;
    this.advance(0);
  }

  /** Sets the wall clock; no timer may be affected. */
  setWallClock(ms: number): void {
    this.#wallMs = ms - this.#elapsedMs;
  }

  #start(delayMs: number, intervalMs: number | undefined, task: () => void): () => void {
    const dueMs = this.#elapsedMs + delayMs + this.#timerLatenessMs;
    const timer: Timer = { task, intervalMs, order: this.#order++, dueMs };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  #nextDue(endMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > endMs) continue;
      const isEarlier = next === undefined || timer.dueMs < next.dueMs;
      if (isEarlier || (timer.dueMs === next?.dueMs && timer.order < next.order)) next = timer;
    }
    return next;
  }
}
