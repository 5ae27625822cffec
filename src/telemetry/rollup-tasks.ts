// Metric points on their way from the telemetry thread to the rollup thread. They pass through the router's thread,
// which forwards the bytes unread.

import type { HistogramCounts } from '../core/telemetry/metrics/histogram-sum.ts';
import type { RolledPoint } from '../core/telemetry/metrics/metric-store.ts';
import type { AskAnswer } from './tasks.ts';

export type RollupTask =
  | { readonly kind: 'add'; readonly points: RollupPoints }
  | { readonly kind: 'ask'; readonly payload: Uint8Array | undefined };

export interface RollupPoints {
  readonly names: readonly string[];
  /** For each number: the place of its name, its time in Unix milliseconds, its value. */
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly histograms: readonly { readonly name: string; readonly timeMs: number; readonly counts: HistogramCounts }[];
}

/** What was left out of rollups, by reason. */
export type RollupDrops = Readonly<Record<string, number>>;

export interface RollupAnswers {
  readonly add: RollupDrops;
  readonly ask: AskAnswer;
}

export const NUMBER_LENGTH = 3;

/** Undefined: there is none. */
export function packPoints(points: readonly RolledPoint[]): RollupPoints | undefined {
  if (points.length === 0) return undefined;
  const places = new Map<string, number>();
  const numbers = new Float64Array(points.length * NUMBER_LENGTH);
  const histograms: RollupPoints['histograms'][number][] = [];
  let used = 0;
  for (const point of points) {
    if (point.kind === 'histogram') {
      const { name, timeMs, counts } = point;
      histograms.push({ name, timeMs, counts });
      continue;
    }
    const place = places.get(point.name) ?? places.size;
    places.set(point.name, place);
    numbers[used++] = place;
    numbers[used++] = point.timeMs;
    numbers[used++] = point.value;
  }
  return { names: [...places.keys()], numbers: numbers.slice(0, used), histograms };
}
