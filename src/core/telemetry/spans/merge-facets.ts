// Frequent values of the attributes of all engines of a cluster. Each engine reports its most frequent ones, so a value
// that is rare on one of them is counted without that engine.

import type { Facet } from './trace-groups.ts';

interface Counted {
  count: number;
  readonly values: Map<string, number>;
}

export function mergedFacets(parts: readonly (readonly Facet[])[], limit: number, valuesLimit: number): Facet[] {
  const byKey = new Map<string, Counted>();
  for (const { key, count, values } of parts.flat()) {
    const known = byKey.get(key) ?? { count: 0, values: new Map<string, number>() };
    byKey.set(key, known);
    known.count += count;
    for (const one of values) known.values.set(one.value, (known.values.get(one.value) ?? 0) + one.count);
  }
  return [...byKey]
    .map(([key, { count, values }]) => ({ key, count, values: mostFrequent(values).slice(0, valuesLimit) }))
    .sort((a, b) => b.count - a.count)
    .slice(0, limit);
}

function mostFrequent(values: ReadonlyMap<string, number>): { value: string; count: number }[] {
  return [...values].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
}
