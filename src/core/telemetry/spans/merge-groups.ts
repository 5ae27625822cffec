// Groups of spans of all engines of a cluster. Each engine reports its largest ones, so a group that is small on one of
// them is counted without that engine. A trace with spans on several engines counts on each.

import { summaryOf, sumOfDurations } from '../metrics/durations.ts';
import type { SpanGroup, SpanGroupPart } from './trace-groups.ts';

export function mergedGroups(parts: readonly (readonly SpanGroup[])[], limit: number): SpanGroup[] {
  const byValue = new Map<string, SpanGroup>();
  for (const group of parts.flat()) {
    const known = byValue.get(group.value);
    byValue.set(group.value, known === undefined ? group : joined(known, group));
  }
  return [...byValue.values()]
    .sort((a, b) => b.span_count - a.span_count || (a.value < b.value ? -1 : 1))
    .slice(0, limit)
    .map(({ durations: _durations, ...shown }) => shown);
}

function joined(one: SpanGroup, other: SpanGroup): SpanGroup {
  const spanCount = one.span_count + other.span_count;
  const totalMs = one.avg_duration_ms * one.span_count + other.avg_duration_ms * other.span_count;
  const failed = (other.last_error_ms ?? 0) > (one.last_error_ms ?? 0) ? other : one;
  const label = one.label ?? other.label;
  return {
    value: one.value,
    ...(label !== undefined && { label }),
    span_count: spanCount,
    trace_count: one.trace_count + other.trace_count,
    error_count: one.error_count + other.error_count,
    avg_duration_ms: totalMs / spanCount,
    ...percentilesOf(one, other),
    max_duration_ms: Math.max(one.max_duration_ms, other.max_duration_ms),
    first_seen_ms: Math.min(one.first_seen_ms, other.first_seen_ms),
    last_seen_ms: Math.max(one.last_seen_ms, other.last_seen_ms),
    ...(failed.last_error_ms !== undefined && { last_error_ms: failed.last_error_ms }),
    ...(failed.last_error !== undefined && { last_error: failed.last_error }),
    ...partsOf(one, other),
  };
}

/** An engine of the version before reports no durations: then the percentiles are those of the larger group. */
function percentilesOf(
  one: SpanGroup,
  other: SpanGroup,
): Pick<SpanGroup, 'p50_duration_ms' | 'p95_duration_ms' | 'durations'> {
  if (one.durations === undefined || other.durations === undefined) {
    const { p50_duration_ms, p95_duration_ms, durations } = one.span_count >= other.span_count ? one : other;
    return { p50_duration_ms, p95_duration_ms, ...(durations !== undefined && { durations }) };
  }
  const durations = sumOfDurations(one.durations, other.durations);
  const { p50_duration_ms, p95_duration_ms } = summaryOf(durations);
  return { p50_duration_ms, p95_duration_ms, durations };
}

/** Both have the time of the question in equally many parts. */
function partsOf(one: SpanGroup, other: SpanGroup): Pick<SpanGroup, 'parts'> {
  const [parts, others] = [one.parts ?? [], other.parts ?? []];
  if (parts.length === 0 && others.length === 0) return {};
  const [longer, shorter] = parts.length >= others.length ? [parts, others] : [others, parts];
  return { parts: longer.map((part, index) => sumOf(part, shorter[index])) };
}

function sumOf(one: SpanGroupPart, other: SpanGroupPart | undefined): SpanGroupPart {
  if (other === undefined) return one;
  return {
    span_count: one.span_count + other.span_count,
    error_count: one.error_count + other.error_count,
    duration_ms: one.duration_ms + other.duration_ms,
  };
}
