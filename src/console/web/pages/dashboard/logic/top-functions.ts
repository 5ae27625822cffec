// The five top functions (DSH-5), with their calls of the last five minutes.

import type { FunctionFigures, FunctionRow, RecentCalls } from '../../../../../console-api/registry.ts';

export type TopKind = 'calls' | 'errors' | 'time';

const SHOWN = 5;

/** What is counted for each interval: calls, failed calls, and milliseconds spent in them. */
const COUNTED: Readonly<Record<TopKind, (part: RecentCalls) => number>> = {
  calls: ({ calls }) => calls,
  errors: ({ errors }) => errors,
  time: ({ total_ms }) => total_ms,
};

export interface TopFunction {
  readonly id: string;
  /** A minute. */
  readonly value: number;
  /** Oldest first. */
  readonly course: readonly number[];
}

export function topFunctions(rows: readonly FunctionRow[], kind: TopKind): TopFunction[] {
  return rows
    .flatMap(({ function_id: id, figures }) => {
      const course = (figures?.recent ?? []).map(COUNTED[kind]);
      const value = figures === null ? 0 : course.reduce((sum, part) => sum + part, 0) / minutesOf(figures);
      return value > 0 ? [{ id, value, course }] : [];
    })
    .sort((a, b) => b.value - a.value || a.id.localeCompare(b.id))
    .slice(0, SHOWN);
}

/** The length of all intervals together: an engine that has just started has less than five minutes. */
function minutesOf({ calls, calls_per_minute }: FunctionFigures): number {
  return calls === 0 ? 1 : calls / calls_per_minute;
}
