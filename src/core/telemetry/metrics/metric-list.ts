// The metrics of workers for `engine::metrics::list` and for alert rules.

import type { MetricRecord } from '../records/records.ts';
import { Aggregate, type AggregateRow } from './aggregate.ts';
import { isMetric } from './metric-names.ts';
import type { MetricStore, Series, StoredPoint } from './metric-store.ts';
import type { WindowPart } from './window-part.ts';

export interface MetricFilter {
  readonly name: string | undefined;
  /** Unix milliseconds. */
  readonly startTime: number | undefined;
  readonly endTime: number | undefined;
}

/** One entry for each metric of each service, its points oldest first. */
export function listMetrics(store: MetricStore, filter: MetricFilter): MetricRecord[] {
  const metrics = new Map<string, { series: Series; points: StoredPoint['point'][] }>();
  for (const { series, point } of matching(store, filter)) {
    const { name, service_name: service, metric_type: type } = series.description;
    const key = `${name}\0${service}\0${type}`;
    const metric = metrics.get(key);
    if (metric === undefined) metrics.set(key, { series, points: [point] });
    else metric.points.push(point);
  }
  return [...metrics.values()].map(({ series, points }) => {
    const { is_delta: _mark, ...description } = series.description;
    const last = points.reduce((latest, { timestamp_unix_nano: time }) => Math.max(latest, time), 0);
    return { ...description, data_points: points, timestamp_unix_nano: last };
  });
}

/** Buckets that one question may create, over all metrics. */
export const AGGREGATES_MAX = 10_000;

/** The points of each metric in buckets of one length; undefined: over the limit of buckets. */
export function aggregateMetrics(
  store: MetricStore,
  filter: MetricFilter,
  intervalMs: number,
): AggregateRow[] | undefined {
  const buckets = new Map<string, { name: string; startMs: number; aggregate: Aggregate }>();
  for (const { series, point } of matching(store, filter)) {
    if (!('value' in point)) continue;
    const startMs = Math.floor(point.timestamp_unix_nano / 1e6 / intervalMs) * intervalMs;
    const key = `${startMs} ${series.description.name}`;
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (buckets.size >= AGGREGATES_MAX) return undefined;
      bucket = { name: series.description.name, startMs, aggregate: new Aggregate() };
      buckets.set(key, bucket);
    }
    bucket.aggregate.add(point.value);
  }
  return [...buckets.values()]
    .sort((a, b) => a.startMs - b.startMs || (a.name < b.name ? -1 : 1))
    .map(({ name, startMs, aggregate }) => aggregate.row(name, startMs, startMs + intervalMs));
}

/** What an alert compares: the increase of counters, the average of gauges, the mean of histograms. */
export function windowPart(store: MetricStore, name: string, startMs: number, nowMs: number): WindowPart | undefined {
  const windows = new Map<Series, SeriesWindow>();
  const isWanted = isMetric(name);
  const startNano = startMs * 1e6;
  for (const { series, point } of store.all()) {
    if (!isWanted(series.description.name)) continue;
    const timeMs = point.timestamp_unix_nano / 1e6;
    if (timeMs > nowMs) continue;
    const window = windows.get(series) ?? { before: undefined, within: [] };
    windows.set(series, window);
    if (timeMs < startMs) window.before = point;
    else window.within.push(point);
  }
  const measured = [...windows].filter(([, { within }]) => within.length > 0);
  const [first] = measured;
  if (first === undefined) return undefined;
  const type = first[0].description.metric_type;
  if (type === 'histogram') return partOfHistograms(measured, startNano);
  if (type !== 'counter') return partOfGauges(measured);
  return { sum: measured.reduce((sum, [series, window]) => sum + risen(series, window, startNano), 0) };
}

interface SeriesWindow {
  /** The last point before the window. */
  before: StoredPoint['point'] | undefined;
  readonly within: StoredPoint['point'][];
}

function risen({ description }: Series, window: SeriesWindow, startNano: number): number {
  const values = window.within.map(countOf);
  if (description.is_delta === true) return values.reduce((sum, value) => sum + value, 0);
  // A counter that falls has restarted.
  const base = baseOf(window, startNano);
  let last = base === undefined ? 0 : countOf(base);
  let total = 0;
  for (const value of values) {
    total += value >= last ? value - last : value;
    last = value;
  }
  return total;
}

/**
 * The value at the beginning of the window; `undefined`: nothing was counted yet. If earlier counts are unknown,
 * because the engine is younger or points had to leave, the share within the window is unknown too.
 */
function baseOf({ before, within }: SeriesWindow, startNano: number): StoredPoint['point'] | undefined {
  const [first] = within;
  return before ?? ((first?.start_time_unix_nano ?? startNano) < startNano ? first : undefined);
}

function partOfGauges(measured: readonly [Series, SeriesWindow][]): WindowPart {
  const values = measured.flatMap(([, { within }]) => within.map(countOf));
  return { sum: values.reduce((sum, value) => sum + value, 0), count: values.length };
}

function partOfHistograms(measured: readonly [Series, SeriesWindow][], startNano: number): WindowPart | undefined {
  let count = 0;
  let sum = 0;
  for (const [{ description }, window] of measured) {
    let last = baseOf(window, startNano);
    for (const point of window.within) {
      const isWhole = description.is_delta === true || last === undefined || countOf(last) > countOf(point);
      count += countOf(point) - (isWhole || last === undefined ? 0 : countOf(last));
      sum += sumOf(point) - (isWhole || last === undefined ? 0 : sumOf(last));
      last = point;
    }
  }
  return count === 0 ? undefined : { sum, count };
}

function countOf(point: StoredPoint['point']): number {
  return 'value' in point ? point.value : point.count;
}

function sumOf(point: StoredPoint['point']): number {
  return 'value' in point ? point.value : point.sum;
}

function* matching(store: MetricStore, { name, startTime, endTime }: MetricFilter): Iterable<StoredPoint> {
  const isWanted = name === undefined ? () => true : isMetric(name);
  for (const stored of store.all()) {
    const timeMs = stored.point.timestamp_unix_nano / 1e6;
    if (startTime !== undefined && timeMs < startTime) continue;
    if (endTime !== undefined && timeMs > endTime) continue;
    if (isWanted(stored.series.description.name)) yield stored;
  }
}
