// Counts of calls and jobs of all engines of a cluster. Engines answer from the level that reaches back far enough, and
// one that was started later from a finer one: the coarsest grid counts.

import {
  type CallRow,
  type CallsAnswer,
  type EdgeCalls,
  type FunctionCalls,
  type JobsAnswer,
  jobsOf,
  type QueueJobs,
} from './call-answers.ts';
import { CallCell, pointAt, pointsOf } from './call-cell.ts';
import type { CallWindow } from './call-series.ts';

export function mergedCalls(parts: readonly [CallsAnswer, ...CallsAnswer[]]): CallsAnswer {
  const window = windowOf(parts);
  const functions = new Map<string, { readonly sums: Merged; calls: FunctionCalls }>();
  const total = new Merged(window);
  for (const part of parts) {
    total.add(part, part.total);
    for (const row of part.functions) {
      const known = functions.get(row.function_id) ?? { sums: new Merged(window), calls: row };
      known.sums.add(part, row);
      known.calls = later(known.calls, row);
      functions.set(row.function_id, known);
    }
  }
  const edges = parts.every((part) => part.edges === undefined) ? undefined : parts.flatMap((part) => part.edges ?? []);
  return {
    ...window,
    functions: [...functions.values()].map(({ sums, calls }) => ({
      ...sums.row(),
      function_id: calls.function_id,
      last_call_ms: calls.last_call_ms,
      last_error: calls.last_error,
    })),
    total: total.row(),
    ...(edges !== undefined && { edges: sumsOf(edges) }),
  };
}

export function mergedJobs(parts: readonly [JobsAnswer, ...JobsAnswer[]]): JobsAnswer {
  const window = windowOf(parts);
  const queues = new Map<string, Merged>();
  for (const part of parts) {
    for (const row of part.queues) {
      const known = queues.get(row.queue) ?? new Merged(window);
      queues.set(row.queue, known);
      known.add(part, callsOf(row));
    }
  }
  return { ...window, queues: [...queues].map(([queue, merged]) => jobsOf(queue, merged.row())) };
}

function callsOf({ attempts: calls, failed: errors, enqueued: deferred, points, ...sums }: QueueJobs): CallRow {
  return {
    ...{ calls, errors, deferred },
    ...sums,
    points: points.map(({ attempts, failed, ...point }) => ({ calls: attempts, errors: failed, ...point })),
  };
}

/** Of the part with the longest steps. */
function windowOf([first, ...rest]: readonly [CallWindow, ...CallWindow[]]): CallWindow {
  const { start_ms, end_ms, step_ms, level } = rest.reduce(
    (one, other) => (other.step_ms > one.step_ms ? other : one),
    first,
  );
  const since = [first, ...rest].map((part) => part.since_ms);
  // One engine that has counted all the time makes a rate of the whole window.
  const known = since.filter((ms) => ms !== null);
  return { start_ms, end_ms, step_ms, level, since_ms: known.length < since.length ? null : Math.min(...known) };
}

class Merged {
  readonly #window: CallWindow;
  readonly #whole = new CallCell();
  readonly #points: CallCell[] = [];
  #hasPoints = false;

  constructor(window: CallWindow) {
    this.#window = window;
  }

  add({ start_ms: startMs, step_ms: stepMs }: CallWindow, row: CallRow): void {
    this.#whole.addPoint(row, row.deferred);
    this.#hasPoints ||= row.points.length > 0;
    for (const [index, point] of row.points.entries()) {
      const at = Math.floor((startMs + index * stepMs - this.#window.start_ms) / this.#window.step_ms);
      if (at >= 0) pointAt(this.#points, at).addPoint(point);
    }
  }

  row(): CallRow {
    return { ...this.#whole.sums(), points: this.#hasPoints ? pointsOf(this.#points, this.#window) : [] };
  }
}

function later(one: FunctionCalls, other: FunctionCalls): FunctionCalls {
  const lastError = (one.last_error?.at_ms ?? 0) >= (other.last_error?.at_ms ?? 0) ? one.last_error : other.last_error;
  const lastCallMs = Math.max(one.last_call_ms ?? 0, other.last_call_ms ?? 0);
  return { ...one, last_call_ms: lastCallMs === 0 ? null : lastCallMs, last_error: lastError };
}

function sumsOf(edges: readonly EdgeCalls[]): EdgeCalls[] {
  const sums = new Map<string, EdgeCalls>();
  for (const edge of edges) {
    const key = `${edge.from}\0${edge.to.kind}\0${edge.to.name}`;
    const known = sums.get(key);
    const { calls, errors } = known ?? { calls: 0, errors: 0 };
    sums.set(key, { ...edge, calls: calls + edge.calls, errors: errors + edge.errors });
  }
  return [...sums.values()];
}
