// How many lines of each kind the console takes within one second, so that messages that clients cause do not fill a
// disk. The kind is a message of the engine, or a service whose log records are shown.
//
// All kinds share one second: it begins with a line, and the first line after its end begins the next one. Kinds are
// forgotten with their second, and a second has room for a fixed number of them; further ones share a window.

export interface LineLimits {
  readonly perSecond: number;
  /** Kinds with a window of their own. */
  readonly kindsMax: number;
  /** Over all kinds. A kind within a tenth of its own limit always passes: one flood does not hide all others. */
  readonly totalPerSecond: number;
}

export interface LeftOut {
  readonly kind: string;
  readonly count: number;
}

interface Window {
  readonly kind: string;
  written: number;
  leftOut: number;
}

const SECOND_MS = 1_000;
/** A longer kind is identified by its beginning. */
const KIND_CHARS_MAX = 256;

export class LineLimit {
  readonly #limits: LineLimits;
  readonly #othersName: string;
  readonly #windows = new Map<string, Window>();
  #others: Window;
  #written = 0;
  #startMs = Number.NEGATIVE_INFINITY;
  /** Of the seconds that are over. */
  readonly #past = new Map<string, number>();

  /** `othersName`: the common name of the kinds without a window of their own. */
  constructor(limits: LineLimits, othersName: string) {
    this.#limits = limits;
    this.#othersName = othersName;
    this.#others = newWindow(othersName);
  }

  /** Whether one more line of that kind is written. */
  take(kind: string, nowMs: number): boolean {
    this.#turn(nowMs);
    const window = this.#windowOf(kind);
    if (!this.#isBelowLimit(window)) {
      window.leftOut++;
      return false;
    }
    window.written++;
    this.#written++;
    return true;
  }

  /** Counts lines of that kind that were left out for another reason. */
  leaveOut(kind: string, count: number, nowMs: number): void {
    this.#turn(nowMs);
    this.#windowOf(kind).leftOut += count;
  }

  /** Lines left out in seconds that are over; each is reported once. */
  takeLeftOut(nowMs: number): readonly LeftOut[] {
    this.#turn(nowMs);
    const taken = [...this.#past].map(([kind, count]) => ({ kind, count }));
    this.#past.clear();
    return taken;
  }

  /** Whether lines were left out that `takeLeftOut` has not reported. */
  get hasLeftOut(): boolean {
    return this.#past.size > 0 || [...this.#windows.values(), this.#others].some(({ leftOut }) => leftOut > 0);
  }

  /** How many kinds it remembers. */
  get kindCount(): number {
    return this.#windows.size;
  }

  #isBelowLimit({ written }: Window): boolean {
    const { perSecond, totalPerSecond } = this.#limits;
    if (written >= perSecond) return false;
    return this.#written < totalPerSecond || written < perSecond / 10;
  }

  #windowOf(kind: string): Window {
    const name = kind.slice(0, KIND_CHARS_MAX);
    const known = this.#windows.get(name);
    if (known !== undefined) return known;
    if (this.#windows.size >= this.#limits.kindsMax) return this.#others;
    const window = newWindow(name);
    this.#windows.set(name, window);
    return window;
  }

  #turn(nowMs: number): void {
    if (nowMs - this.#startMs < SECOND_MS) return;
    this.#startMs = nowMs;
    this.#written = 0;
    for (const window of [...this.#windows.values(), this.#others]) this.#note(window);
    this.#windows.clear();
    this.#others = newWindow(this.#othersName);
  }

  /** Counts that wait to be reported are bounded like windows. */
  #note({ kind, leftOut }: Window): void {
    if (leftOut === 0) return;
    const isCounted = this.#past.has(kind) || this.#past.size < this.#limits.kindsMax;
    const name = isCounted ? kind : this.#othersName;
    this.#past.set(name, (this.#past.get(name) ?? 0) + leftOut);
  }
}

function newWindow(kind: string): Window {
  return { kind, written: 0, leftOut: 0 };
}
