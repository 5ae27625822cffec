// Traces for the tests of the console, from a few words or at random.

import type { SpanRecord } from '../../../src/core/telemetry/records/records.ts';
import type { SeededRandom } from '../random/seeded-random.ts';

export const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
/** Small enough for a double to hold every later nanosecond: times compare exactly. */
export const TRACE_START_NS = 1_000_000_000;
const NS_PER_MS = 1_000_000;

export interface SpanSketch extends Partial<Omit<SpanRecord, 'span_id' | 'parent_span_id'>> {
  readonly id: string;
  readonly parent?: string;
  /** Milliseconds from the start of the trace. */
  readonly at: readonly [start: number, end: number];
}

/** Ids are padded to 16 digits: `spanId('a')`. */
export function spanId(id: string): string {
  return id.padStart(16, '0');
}

export function sketchSpan({ id, parent, at, ...rest }: SpanSketch): SpanRecord {
  return {
    trace_id: TRACE_ID,
    span_id: spanId(id),
    parent_span_id: parent === undefined ? null : spanId(parent),
    name: `call ${id}`,
    start_time_unix_nano: TRACE_START_NS + at[0] * NS_PER_MS,
    end_time_unix_nano: rest.pending === true ? 0 : TRACE_START_NS + at[1] * NS_PER_MS,
    status: 'ok',
    attributes: [],
    service_name: 'api',
    events: [],
    links: [],
    ...rest,
  };
}

export function sketchTrace(...sketches: readonly SpanSketch[]): SpanRecord[] {
  return sketches.map(sketchSpan);
}

/** A tree in which children may run at once, start before their parent, outlive it, or name a parent that never came. */
export function randomTrace(random: SeededRandom, count: number): SpanRecord[] {
  const sketches: SpanSketch[] = [];
  for (let index = 0; index < count; index += 1) {
    const parent = index === 0 ? undefined : sketches[random.below(index)];
    const [from, to] = parent?.at ?? [0, 1_000];
    const start = from + (random.below(130) - 10) * ((to - from) / 100);
    const end = start + random.below(101) * ((to - from) / 100);
    sketches.push({
      id: index.toString(16),
      ...(parent !== undefined && { parent: random.below(40) === 0 ? `dead${index}` : parent.id }),
      at: [Math.max(0, start), Math.max(0, end)],
      name: `call fn::${random.below(5)}`,
      service_name: `service-${random.below(3)}`,
      status: random.below(10) === 0 ? 'error' : 'ok',
    });
  }
  return sketches.map(sketchSpan);
}
