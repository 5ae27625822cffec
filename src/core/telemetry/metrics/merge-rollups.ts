// Rollups of all engines of a cluster: buckets of one metric and time are added, because all engines cut time in the
// same way.

import { mergedAggregates } from './merge-metrics.ts';
import type { HistogramRow, RollupList } from './rollup.ts';

export function mergedRollups(parts: readonly RollupList[]): RollupList {
  return {
    rollups: mergedAggregates(parts.flatMap(({ rollups }) => rollups)),
    histogram_rollups: mergedHistograms(parts.flatMap(({ histogram_rollups: rows }) => rows)),
  };
}

/** Histograms with other bounds, as two versions of a worker may have, are rows of their own. */
function mergedHistograms(rows: readonly HistogramRow[]): HistogramRow[] {
  const merged = new Map<string, HistogramRow>();
  for (const row of rows) {
    const key = `${row.bucket_start_ns} ${row.explicit_bounds.join(' ')} ${row.name}`;
    const known = merged.get(key);
    merged.set(key, known === undefined ? row : sumOf(known, row));
  }
  return [...merged.values()].sort((a, b) => a.bucket_start_ns - b.bucket_start_ns || (a.name < b.name ? -1 : 1));
}

function sumOf(one: HistogramRow, other: HistogramRow): HistogramRow {
  const [min, max] = [edge(Math.min, one.min, other.min), edge(Math.max, one.max, other.max)];
  return {
    ...one,
    total_count: one.total_count + other.total_count,
    total_sum: one.total_sum + other.total_sum,
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    bucket_counts: one.bucket_counts.map((count, at) => count + (other.bucket_counts[at] ?? 0)),
  };
}

function edge(
  choose: (one: number, other: number) => number,
  one: number | undefined,
  other: number | undefined,
): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : choose(one, other);
}
