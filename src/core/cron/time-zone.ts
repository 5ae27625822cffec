// The offset of a time zone from UTC, and the moment that a local time means.

import { nearestWords } from '../config-fields/nearest.ts';

export const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** A local time as a moment. */
type Moment =
  | { readonly kind: 'once' | 'twice' /** The first, where the clock was put back. */; readonly ms: number }
  /** The clock was put forward over it; `ms` is when that happened. */
  | { readonly kind: 'never'; readonly ms: number };

export class TimeZone {
  readonly name: string;
  readonly isUtc: boolean;
  readonly #format: Intl.DateTimeFormat;

  private constructor(name: string, format: Intl.DateTimeFormat) {
    this.name = name;
    this.isUtc = format.resolvedOptions().timeZone === 'UTC';
    this.#format = format;
  }

  /** The zone of an IANA name, or the reason why it is refused. */
  static read(name: string): { ok: true; zone: TimeZone } | { ok: false; reason: string } {
    const known = KNOWN_ZONES.get(name);
    if (known !== undefined) return { ok: true, zone: known };
    try {
      // The form with an offset would be a zone without daylight saving time.
      if (/^[A-Za-z]/.test(name)) return { ok: true, zone: remember(new TimeZone(name, createFormat(name))) };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    const [meant] = nearestWords(name, Intl.supportedValuesOf('timeZone'));
    const advice = meant === undefined ? 'Names are like Europe/Berlin.' : `Did you mean '${meant}'?`;
    return { ok: false, reason: `The time zone '${name.slice(0, 64)}' is unknown. ${advice}` };
  }

  /** Milliseconds to add to UTC at that moment. */
  offsetAt(ms: number): number {
    const [month, day, year, hour, minute, second] = this.#format.format(ms).split(/\D+/).map(Number);
    const local = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
    return local - Math.floor(ms / SECOND_MS) * SECOND_MS;
  }

  /**
   * Between these moments the clock changes at most once: the first whole second of the new offset, if there is one.
   */
  changeBetween(fromMs: number, toMs: number): number | undefined {
    const before = this.offsetAt(fromMs);
    if (this.offsetAt(toMs) === before) return undefined;
    let [low, high] = [Math.floor(fromMs / SECOND_MS), Math.ceil(toMs / SECOND_MS)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offsetAt(middle * SECOND_MS) === before) low = middle;
      else high = middle;
    }
    return high * SECOND_MS;
  }

  momentOf(localMs: number): Moment {
    // No zone is further than a day from UTC.
    const [fromMs, toMs] = [localMs - DAY_MS, localMs + DAY_MS];
    const offsets = [...new Set([this.offsetAt(fromMs), this.offsetAt(toMs)])];
    const moments = offsets.map((offset) => localMs - offset).filter((ms) => ms + this.offsetAt(ms) === localMs);
    if (moments.length > 0) return { kind: moments.length === 1 ? 'once' : 'twice', ms: Math.min(...moments) };
    return { kind: 'never', ms: this.changeBetween(fromMs, toMs) ?? localMs };
  }
}

/** Creating a formatter costs a tenth of a millisecond. Every name has many spellings, so the cache is bounded. */
const KNOWN_ZONES = new Map<string, TimeZone>();
const KNOWN_ZONES_MAX = 1_000;

function remember(zone: TimeZone): TimeZone {
  if (KNOWN_ZONES.size < KNOWN_ZONES_MAX) KNOWN_ZONES.set(zone.name, zone);
  return zone;
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...parts, second: 'numeric' });
}
