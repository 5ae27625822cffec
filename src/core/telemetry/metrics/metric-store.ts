// The newest points of the metrics of workers, in memory. Bounded by count, bytes and age; the oldest leave first (O1).
//
// A metric may have 2 000 label sets: further ones are folded into one called `other`, so that a worker that puts ids
// into labels cannot fill the memory with names.

import {
  type Attributes,
  type HistogramPoint,
  type MetricRecord,
  type NumberPoint,
  recordBytes,
} from '../records/records.ts';

export interface MetricStoreLimits {
  readonly maxCount: number;
  readonly maxBytes: number;
  readonly retentionMs: number;
}

export type MetricDescription = Omit<MetricRecord, 'data_points' | 'timestamp_unix_nano'>;
export type MetricPoint = NumberPoint | HistogramPoint;

export interface StoredPoint {
  readonly series: Series;
  readonly point: MetricPoint;
  readonly bytes: number;
}

/** Points of one metric of one service with the same labels. */
export interface Series {
  readonly key: string;
  readonly description: MetricDescription;
  readonly labels: Attributes;
  points: number;
  /** The last histogram, from which the next one's increase is computed. */
  lastHistogram: HistogramCounts | undefined;
}

/** The contribution of a new point to rollups. */
export type RolledPoint =
  | { readonly kind: 'number'; readonly name: string; readonly timeMs: number; readonly value: number }
  | { readonly kind: 'histogram'; readonly name: string; readonly timeMs: number; readonly counts: HistogramCounts };

export const LABEL_SETS_MAX = 2_000;
export const OTHER_LABELS: Attributes = [['other', 'true']];

export type MetricDropReason = 'limit' | 'retention' | 'label_sets';

export class MetricStore {
  readonly #limits: MetricStoreLimits;
  readonly #onDrop: (reason: MetricDropReason, count: number) => void;
  #points: StoredPoint[] = [];
  /** Points before it have left. */
  #head = 0;
  #bytes = 0;
  readonly #series = new Map<string, Series>();
  /** Label sets by metric and service. */
  readonly #labelSets = new Map<string, number>();

  constructor(limits: MetricStoreLimits, onDrop: (reason: MetricDropReason, count: number) => void) {
    this.#limits = limits;
    this.#onDrop = onDrop;
  }

  get count(): number {
    return this.#points.length - this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get seriesCount(): number {
    return this.#series.size;
  }

  /** Returns the points to roll up. */
  add(record: MetricRecord): RolledPoint[] {
    const { data_points: points, timestamp_unix_nano: _time, ...description } = record;
    const rolled = points.map((point) => this.#addPoint(description, point));
    this.#leave('limit', () => this.count > this.#limits.maxCount || this.#bytes > this.#limits.maxBytes);
    return rolled;
  }

  expire(nowMs: number): void {
    const endNano = (nowMs - this.#limits.retentionMs) * 1e6;
    this.#leave('retention', ({ point }) => point.timestamp_unix_nano < endNano);
  }

  /** Oldest first. */
  *all(): Iterable<StoredPoint> {
    for (let at = this.#head; at < this.#points.length; at++) {
      const point = this.#points[at];
      if (point !== undefined) yield point;
    }
  }

  #addPoint(description: MetricDescription, given: MetricPoint): RolledPoint {
    const series = this.#seriesOf(description, given.attributes);
    const point = series.labels === given.attributes ? given : { ...given, attributes: series.labels };
    const bytes = recordBytes(point);
    this.#points.push({ series, point, bytes });
    this.#bytes += bytes;
    series.points++;
    const timeMs = point.timestamp_unix_nano / 1e6;
    if ('value' in point) return { kind: 'number', name: description.name, timeMs, value: point.value };
    const counts = countsOf(point);
    const isWhole = description.is_delta === true || series.labels === OTHER_LABELS;
    const added = isWhole ? counts : difference(counts, series.lastHistogram);
    series.lastHistogram = counts;
    return { kind: 'histogram', name: description.name, timeMs, counts: added };
  }

  #seriesOf(description: MetricDescription, attributes: Attributes): Series {
    const metric = metricKey(description);
    const key = `${metric}\0${labelText(attributes)}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const sets = this.#labelSets.get(metric) ?? 0;
    if (sets < LABEL_SETS_MAX) return this.#open(metric, key, description, attributes);
    this.#onDrop('label_sets', 1);
    const other = `${metric}\0\0other`;
    return this.#series.get(other) ?? this.#open(metric, other, description, OTHER_LABELS);
  }

  #open(metric: string, key: string, description: MetricDescription, labels: Attributes): Series {
    const series = { key, description, labels, points: 0, lastHistogram: undefined };
    this.#series.set(key, series);
    this.#labelSets.set(metric, (this.#labelSets.get(metric) ?? 0) + 1);
    return series;
  }

  #leave(reason: MetricDropReason, isDue: (oldest: StoredPoint) => boolean): void {
    let left = 0;
    for (
      let oldest = this.#points[this.#head];
      oldest !== undefined && isDue(oldest);
      oldest = this.#points[this.#head]
    ) {
      this.#bytes -= oldest.bytes;
      this.#head++;
      left++;
      this.#forget(oldest.series);
    }
    if (this.#head > 1_024 && this.#head * 2 > this.#points.length) {
      this.#points = this.#points.slice(this.#head);
      this.#head = 0;
    }
    if (left > 0) this.#onDrop(reason, left);
  }

  #forget(series: Series): void {
    series.points--;
    if (series.points > 0) return;
    this.#series.delete(series.key);
    const metric = metricKey(series.description);
    const sets = (this.#labelSets.get(metric) ?? 1) - 1;
    if (sets === 0) this.#labelSets.delete(metric);
    else this.#labelSets.set(metric, sets);
  }
}

function metricKey({ name, service_name: service, metric_type: type }: MetricDescription): string {
  return `${name}\0${service}\0${type}`;
}

function labelText(attributes: Attributes): string {
  return attributes
    .map(([key, value]) => `${key}\0${value}`)
    .sort()
    .join('\0');
}

/**
 * OTLP's usual histogram points count from the start of the worker: two of them must not be added, but their difference
 * may.
 */
export interface HistogramCounts {
  readonly count: number;
  readonly sum: number;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly bucketCounts: readonly number[];
  readonly explicitBounds: readonly number[];
}

export function countsOf(point: HistogramPoint): HistogramCounts {
  const { count, sum, min, max, bucket_counts: bucketCounts, explicit_bounds: explicitBounds } = point;
  return { count, sum, min, max, bucketCounts, explicitBounds };
}

/** The counts since `before`: all of them without it, or where the bounds differ, or where the count restarted. */
export function difference(now: HistogramCounts, before: HistogramCounts | undefined): HistogramCounts {
  if (before === undefined || now.count < before.count || !haveSameBounds(now, before)) return now;
  return {
    count: now.count - before.count,
    sum: now.sum - before.sum,
    // The extremes of a worker's whole life say nothing of the time in between.
    min: undefined,
    max: undefined,
    bucketCounts: now.bucketCounts.map((count, index) => Math.max(0, count - (before.bucketCounts[index] ?? 0))),
    explicitBounds: now.explicitBounds,
  };
}

/** Undefined: their buckets differ and cannot be added. */
export function add(one: HistogramCounts, other: HistogramCounts): HistogramCounts | undefined {
  if (!haveSameBounds(one, other)) return undefined;
  return {
    count: one.count + other.count,
    sum: one.sum + other.sum,
    min: extreme(Math.min, one.min, other.min),
    max: extreme(Math.max, one.max, other.max),
    bucketCounts: one.bucketCounts.map((count, index) => count + (other.bucketCounts[index] ?? 0)),
    explicitBounds: one.explicitBounds,
  };
}

function haveSameBounds({ explicitBounds: a }: HistogramCounts, { explicitBounds: b }: HistogramCounts): boolean {
  return a.length === b.length && a.every((bound, index) => bound === b[index]);
}

function extreme(
  choose: (a: number, b: number) => number,
  a: number | undefined,
  b: number | undefined,
): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : choose(a, b);
}
