// The pressure on the engine: one level, and its cause (L1, L2). Pure: readings in, a level out.
//
// Invariants:
//   - A level holds as soon as any one quantity requires it.
//   - It is left when nothing has required it for 5 s: an engine at the limit must not flap.
//   - From `shed` on a share of new work is admitted. The share is halved while a reading still requires that, and
//     grows otherwise: an engine that refused everything for 5 s would do no work at all (DECISIONS 31).

export const PRESSURE_NAMES = ['normal', 'busy', 'shed', 'protect'] as const;

export const PRESSURE = { normal: 0, busy: 1, shed: 2, protect: 3 } as const;
export type PressureLevel = (typeof PRESSURE)[keyof typeof PRESSURE];

export interface PressureReading {
  /** The delay of the router's thread, as computed by `effects/process-figures.ts`. */
  readonly event_loop_delay_ms: number;
  /** Of the maximum heap size. */
  readonly heap_share: number;
  /** Unread bytes of all connections, as a share of their limit. */
  readonly outbound_share: number;
  /** Commands that wait for a store. */
  readonly commit_queue: number;
}

export type PressureQuantity = keyof PressureReading;

export interface PressureCause {
  readonly quantity: PressureQuantity;
  readonly value: number;
  /** The limit that is exceeded. */
  readonly limit: number;
}

type Thresholds = readonly [busy: number, shed: number, protect: number];

const NEVER = Number.POSITIVE_INFINITY;
export const THRESHOLDS: Readonly<Record<PressureQuantity, Thresholds>> = {
  event_loop_delay_ms: [50, 200, 1_000],
  heap_share: [0.7, 0.85, 0.95],
  outbound_share: [0.5, 0.75, NEVER],
  commit_queue: [5_000, 20_000, NEVER],
};
const QUANTITIES = ['event_loop_delay_ms', 'heap_share', 'outbound_share', 'commit_queue'] as const;
const RISING_LEVELS = [PRESSURE.busy, PRESSURE.shed, PRESSURE.protect] as const;

export const CALM_MS = 5_000;
const SHARE_MIN = 0.05;
const SHARE_GAIN = 0.1;

export class Pressure {
  /** Called after every change. */
  readonly listeners = new Set<() => void>();
  #level: PressureLevel = PRESSURE.normal;
  #cause: PressureCause | undefined;
  #share = 1;
  #credit = 0;
  /** When each level was last required, and by which quantity. */
  readonly #calledForMs: [number, number, number] = [-NEVER, -NEVER, -NEVER];
  readonly #causes: (PressureCause | undefined)[] = [];

  get level(): PressureLevel {
    return this.#level;
  }

  get name(): (typeof PRESSURE_NAMES)[number] {
    return PRESSURE_NAMES[this.#level];
  }

  /** The quantity that last required the present level; `undefined` at the normal level. */
  get cause(): PressureCause | undefined {
    return this.#cause;
  }

  /** The share of new work that is admitted. */
  get share(): number {
    return this.#share;
  }

  /** New work that can be requested again: whether it is admitted. */
  admits(): boolean {
    if (this.#share >= 1) return true;
    this.#credit += this.#share;
    if (this.#credit < 1) return false;
    this.#credit--;
    return true;
  }

  /** Whether that changed the level. */
  take(reading: PressureReading, nowMs: number): boolean {
    for (const level of RISING_LEVELS) {
      const cause = QUANTITIES.map((quantity) => causeOf(quantity, reading, level)).find((found) => found);
      if (cause === undefined) continue;
      this.#calledForMs[level - 1] = nowMs;
      this.#causes[level - 1] = cause;
    }
    const before = this.#level;
    const isOver = this.#calledForMs[PRESSURE.shed - 1] === nowMs;
    this.#level = this.#highest(nowMs);
    this.#cause = this.#level === PRESSURE.normal ? undefined : this.#causes[this.#level - 1];
    this.#share = shareAt(this.#level, isOver, this.#share);
    if (this.#level === before) return false;
    for (const listener of this.listeners) listener();
    return true;
  }

  #highest(nowMs: number): PressureLevel {
    const isHeld = (level: PressureLevel): boolean => nowMs - (this.#calledForMs[level - 1] ?? -NEVER) < CALM_MS;
    return RISING_LEVELS.findLast(isHeld) ?? PRESSURE.normal;
  }
}

function shareAt(level: PressureLevel, isOver: boolean, before: number): number {
  if (level < PRESSURE.shed) return 1;
  if (level === PRESSURE.protect) return 0;
  return isOver ? Math.max(SHARE_MIN, before / 2) : Math.min(1, before + SHARE_GAIN);
}

function causeOf(quantity: PressureQuantity, reading: PressureReading, level: PressureLevel) {
  const value = reading[quantity];
  const limit = THRESHOLDS[quantity][level - 1] ?? NEVER;
  return value > limit ? { quantity, value, limit } : undefined;
}
