// Histograms of the logs of all engines of a cluster. Without a requested range each begins with its own first record:
// the result covers all of them, in buckets as long as the longest.

import type { HistogramBucket, LogHistogram } from './log-list.ts';

export function mergedHistogram(parts: readonly LogHistogram[]): LogHistogram {
  const filled = parts.filter(({ buckets }) => buckets.length > 0);
  if (filled.length === 0) return parts[0] ?? { buckets: [], start_ms: 0, end_ms: 0, bucket_ms: 0, total: 0 };
  const start = Math.min(...filled.map(({ start_ms }) => start_ms));
  const end = Math.max(...filled.map(({ end_ms }) => end_ms));
  const count = Math.max(...filled.map(({ buckets }) => buckets.length));
  const bucketMs = Math.max(...filled.map(({ bucket_ms }) => bucket_ms), Math.ceil((end - start + 1) / count));
  const buckets = Array.from({ length: Math.ceil((end - start + 1) / bucketMs) }, (_, at) => {
    const startMs = start + at * bucketMs;
    return { start_ms: startMs, end_ms: Math.min(startMs + bucketMs, end + 1), counts: { ...NONE } };
  });
  for (const { start_ms: startMs, counts } of filled.flatMap((part) => part.buckets)) {
    const bucket = buckets[Math.min(buckets.length - 1, Math.floor((startMs - start) / bucketMs))];
    if (bucket !== undefined) addTo(bucket.counts, counts);
  }
  const total = filled.reduce((sum, part) => sum + part.total, 0);
  return { buckets, start_ms: start, end_ms: end, bucket_ms: bucketMs, total };
}

const NONE = { TRACE: 0, DEBUG: 0, INFO: 0, WARN: 0, ERROR: 0 };

function addTo(sums: { -readonly [severity in keyof typeof NONE]: number }, counts: HistogramBucket['counts']): void {
  for (const severity of ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const) sums[severity] += counts[severity];
}
