// Metrics of OTLP/JSON: gauges, sums and histograms (wire 1.11). Other kinds are not supported.

import { boundAttributes } from '../spans/span-bounds.ts';
import { type Fields, fieldsOf, listOf, notAhead, numberOf, pairsOf, textOf } from './otlp-values.ts';
import type { HistogramPoint, MetricRecord, MetricType, NumberPoint } from './records.ts';

type Point = NumberPoint | HistogramPoint;
export type ReadMetric = Omit<MetricRecord, 'service_name'>;

interface Reading {
  readonly nowMs: number;
  dropped(reason: string): void;
}

const NAME_CHARS_MAX = 256;
const POINTS_MAX = 10_000;
const BUCKETS_MAX = 1_024;

export function readMetric(item: Fields, reading: Reading): ReadMetric | undefined {
  const name = textOf(item.name).slice(0, NAME_CHARS_MAX);
  const kind = kindOf(item);
  if (name === '' || kind === undefined) return undefined;
  const { type, data } = kind;
  const read = type === 'histogram' ? readHistogramPoint : readNumberPoint;
  const given = listOf(data.dataPoints);
  if (given.length > POINTS_MAX) reading.dropped('frame_too_large');
  const points = given.slice(0, POINTS_MAX).flatMap((point) => {
    const one = read(fieldsOf(point), reading);
    if (one === undefined) reading.dropped('malformed');
    return one === undefined ? [] : [one];
  });
  return {
    name,
    description: textOf(item.description).slice(0, NAME_CHARS_MAX * 4),
    unit: textOf(item.unit).slice(0, NAME_CHARS_MAX),
    metric_type: type,
    ...(isDelta(data) && { is_delta: true }),
    data_points: points,
    timestamp_unix_nano: points.reduce((latest, point) => Math.max(latest, point.timestamp_unix_nano), 0),
  };
}

function kindOf({ gauge, sum, histogram }: Fields): { type: MetricType; data: Fields } | undefined {
  if (gauge !== undefined) return { type: 'gauge', data: fieldsOf(gauge) };
  if (histogram !== undefined) return { type: 'histogram', data: fieldsOf(histogram) };
  if (sum === undefined) return undefined;
  const data = fieldsOf(sum);
  return { type: data.isMonotonic === true ? 'counter' : 'updowncounter', data };
}

/** OTLP/JSON uses both spellings of the enumeration. */
function isDelta({ aggregationTemporality: word }: Fields): boolean {
  return word === 1 || word === 'AGGREGATION_TEMPORALITY_DELTA';
}

function shared(point: Fields, reading: Reading) {
  const start = numberOf(point.startTimeUnixNano);
  return {
    attributes: boundAttributes(pairsOf(point.attributes), () => reading.dropped('truncated')),
    timestamp_unix_nano: notAhead(numberOf(point.timeUnixNano) || reading.nowMs * 1e6, reading.nowMs),
    // Zero means unknown.
    ...(start !== undefined && start > 0 && { start_time_unix_nano: start }),
  };
}

function readNumberPoint(point: Fields, reading: Reading): Point | undefined {
  const value = numberOf(point.asDouble) ?? numberOf(point.asInt);
  return value === undefined ? undefined : { value, ...shared(point, reading) };
}

function readHistogramPoint(point: Fields, reading: Reading): Point | undefined {
  const count = numberOf(point.count);
  const buckets = listOf(point.bucketCounts).map((bucket) => numberOf(bucket) ?? -1);
  const bounds = listOf(point.explicitBounds).map((bound) => numberOf(bound) ?? Number.NaN);
  const fits = buckets.length === 0 ? bounds.length === 0 : buckets.length === bounds.length + 1;
  const isSorted = bounds.every((bound, at) => at === 0 || bound > (bounds[at - 1] ?? bound));
  if (count === undefined || count < 0 || !fits || !isSorted || buckets.some((bucket) => bucket < 0)) return undefined;
  if (buckets.length > BUCKETS_MAX) return undefined;
  const min = numberOf(point.min);
  const max = numberOf(point.max);
  return {
    count,
    sum: numberOf(point.sum) ?? 0,
    bucket_counts: buckets,
    explicit_bounds: bounds,
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...shared(point, reading),
  };
}
