// The results of many calls of one function: their durations, and their errors by kind (FUN-9).

import { percentile } from '../../../../core/telemetry/spans/trace-groups.ts';

export const SERIES_CALLS_MAX = 1_000;
/** Browsers send this many requests to one host at a time. More would wait in the page and not in the function. */
export const AT_ONCE_MAX = 6;

export interface CallOutcome {
  readonly durationMs: number;
  /** Undefined for a call that succeeded. */
  readonly problem: string | undefined;
  readonly traceId: string | undefined;
}

export interface SeriesFailure {
  readonly problem: string;
  readonly count: number;
  /** The trace of the first call that has one. */
  readonly traceIds: readonly string[];
}

export interface LatencyBar {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

const TRACES_SHOWN = 5;

/** A whole number within the limits; undefined for everything else. */
export function countIn(text: string, max: number): number | undefined {
  const count = Number(text);
  return /^\d+$/.test(text.trim()) && count >= 1 && count <= max ? count : undefined;
}

/** The most frequent first. */
export function failuresOf(outcomes: readonly CallOutcome[]): SeriesFailure[] {
  const found = new Map<string, { problem: string; count: number; traceIds: string[] }>();
  for (const { problem, traceId } of outcomes) {
    if (problem === undefined) continue;
    const failure = found.get(problem) ?? { problem, count: 0, traceIds: [] };
    failure.count += 1;
    if (traceId !== undefined && failure.traceIds.length < TRACES_SHOWN) failure.traceIds.push(traceId);
    found.set(problem, failure);
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

export interface Latencies {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** From the fastest to the slowest, without holes. The limits are 1, 2 and 5 of each power of ten. */
  readonly bars: readonly LatencyBar[];
}

/** Only of calls that succeeded: a failure is fast or slow for other reasons. */
export function latenciesOf(outcomes: readonly CallOutcome[]): Latencies | undefined {
  const sorted = outcomes
    .filter(({ problem }) => problem === undefined)
    .map(({ durationMs }) => durationMs)
    .sort((a, b) => a - b);
  const [fastest] = sorted;
  const slowest = sorted.at(-1);
  if (fastest === undefined || slowest === undefined) return undefined;
  const bars: LatencyBar[] = [];
  let step = stepBelow(fastest);
  do {
    const [fromMs, toMs] = [limitOf(step), limitOf(step + 1)];
    bars.push({ fromMs, toMs, count: sorted.filter((ms) => ms >= fromMs && ms < toMs).length });
    step += 1;
  } while (limitOf(step) <= slowest);
  return { p50Ms: percentile(sorted, 0.5), p95Ms: percentile(sorted, 0.95), maxMs: slowest, bars };
}

const FASTEST_STEP = -6;

/** The last limit that is not above the value. Smaller values are counted with the first limits. */
function stepBelow(ms: number): number {
  let step = FASTEST_STEP;
  while (limitOf(step + 1) <= ms) step += 1;
  return step;
}

/** 0.01, 0.02, 0.05, 0.1 … for -6, -5, -4, -3 …; 0 below the first. */
function limitOf(step: number): number {
  if (step <= FASTEST_STEP) return 0;
  const power = Math.floor(step / 3);
  return ([1, 2, 5][step - power * 3] ?? 1) * 10 ** power;
}
