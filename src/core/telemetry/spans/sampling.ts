// Which traces are kept (modules 11.8). Decided once, where a trace begins, from its id alone, so that all engines
// agree; all later steps follow the flag in the context.

import type { Pattern } from '../../access/pattern.ts';

export interface SamplingRule {
  /** Absent: matches all. If both are given, both must match. */
  readonly operation: Pattern | undefined;
  readonly service: Pattern | undefined;
  /** 0 to 1. */
  readonly rate: number;
}

export interface SamplingSettings {
  /** For traces that match no rule. */
  readonly defaultRate: number;
  /** In order: the first that matches decides. */
  readonly rules: readonly SamplingRule[];
  /** A context from outside has decided already. */
  readonly isParentBased: boolean;
  /** Of traces that begin here; may be infinite. */
  readonly tracesPerSecondMax: number;
}

/** A cache of rates by function, bounded because users choose function ids. */
const KNOWN_RATES_MAX = 4_096;

export class Sampler {
  readonly settings: SamplingSettings;
  /** Whether no trace that begins here is ever kept: then it needs no id. */
  readonly isNever: boolean;
  readonly #known = new Map<string, number>();
  /** The rate of all traces; `undefined`: it differs. */
  readonly #rateOfAll: number | undefined;
  /** How many traces without an id come before the next that may be kept; below 0: not drawn yet. */
  #toSkip = -1;
  #tokens: number;
  #refilledMs = 0;
  #limited = 0;

  constructor(settings: SamplingSettings) {
    this.settings = settings;
    this.isNever = settings.defaultRate <= 0 && settings.rules.every(({ rate }) => rate <= 0);
    const { rules, defaultRate } = settings;
    this.#rateOfAll = rules.length === 0 && defaultRate > 0 && defaultRate < 1 ? defaultRate : undefined;
    this.#tokens = settings.tracesPerSecondMax;
  }

  /**
   * Whether the trace that begins now, and has no id yet, is not kept. Where all have one rate, the number of traces
   * up to the next that may be kept is drawn at once, which costs less than a random number for each. `random`: from 0
   * to below 1.
   */
  skips(random: () => number): boolean {
    const rate = this.#rateOfAll;
    if (rate === undefined) return false;
    if (this.#toSkip < 0) this.#toSkip = Math.floor(Math.log1p(-random()) / Math.log1p(-rate));
    return this.#toSkip-- > 0;
  }

  /** The position of a trace that is not skipped. */
  placeOfNext(random: number): number {
    return this.#rateOfAll === undefined ? random : random * this.#rateOfAll;
  }

  /**
   * Whether the trace with this position, which begins now with this operation, is kept. The clock is read only for a
   * trace that may be kept.
   */
  decide(fraction: number, operation: string, service: string, nowMs: () => number): boolean {
    if (fraction >= this.#rateOf(operation, service)) return false;
    return this.settings.tracesPerSecondMax === Number.POSITIVE_INFINITY || this.#admit(nowMs());
  }

  /** Traces that the rate limit dropped since the last call. */
  takeLimited(): number {
    const limited = this.#limited;
    this.#limited = 0;
    return limited;
  }

  #rateOf(operation: string, service: string): number {
    const { rules, defaultRate } = this.settings;
    if (rules.length === 0) return defaultRate;
    const key = `${service}\n${operation}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const rule = rules.find((rule) => applies(rule, operation, service));
    const rate = rule?.rate ?? defaultRate;
    if (this.#known.size >= KNOWN_RATES_MAX) this.#known.clear();
    this.#known.set(key, rate);
    return rate;
  }

  /** A token bucket that is full after one idle second. */
  #admit(nowMs: number): boolean {
    const { tracesPerSecondMax: max } = this.settings;
    const gained = (Math.max(0, nowMs - this.#refilledMs) / 1_000) * max;
    this.#tokens = Math.min(Math.max(max, 1), this.#tokens + gained);
    this.#refilledMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens--;
      return true;
    }
    this.#limited++;
    return false;
  }
}

/** The position of an id among all ids, from 0 to below 1. Its last 52 bits count: W3C asks them to be random. */
export function placeOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-PLACE_DIGITS), 16) / PLACES;
}

/** An id with that position. `token`: 32 random hexadecimal digits. */
export function traceIdAt(fraction: number, token: string): string {
  const high = Math.floor(fraction * 2 ** HIGH_BITS);
  const low = Math.floor((fraction * 2 ** HIGH_BITS - high) * 2 ** LOW_BITS);
  return token.slice(PLACE_DIGITS) + digits(high, HIGH_BITS / 4) + digits(low, LOW_BITS / 4);
}

/** Whether an id lies within a share of all of them. */
export function isWithin(traceId: string, rate: number): boolean {
  if (rate >= 1) return true;
  return rate > 0 && placeOf(traceId) < rate;
}

function digits(value: number, count: number): string {
  return value.toString(16).padStart(count, '0');
}

const PLACE_DIGITS = 13;
const PLACES = 2 ** 52;
/** Printed in two parts: V8 takes a microsecond to print a number of more than 32 bits in hexadecimal. */
const HIGH_BITS = 24;
const LOW_BITS = 28;

function applies({ operation, service }: SamplingRule, name: string, serviceName: string): boolean {
  return (operation?.matches(name) ?? true) && (service?.matches(serviceName) ?? true);
}
