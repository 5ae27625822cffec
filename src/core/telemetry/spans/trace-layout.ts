// A trace as rows to draw: position, width and marks. The command line and the console draw the same rows, one in
// characters, the other in pixels.

import { CLOCK_NANO, criticalPath, endOf, treeIntervals } from './critical-path.ts';
import type { TreeSpan } from './trace-tree.ts';

export interface TraceRowLayout {
  readonly span: TreeSpan;
  /** 0 for a root. */
  readonly depth: number;
  /** For each level above: whether a line of that level continues below this row. */
  readonly openLevels: readonly boolean[];
  readonly isLastChild: boolean;
  /** Of the whole trace, 0 to 1. */
  readonly offset: number;
  readonly width: number;
  readonly durationMs: number;
  /** Without the time in which a child span ran. */
  readonly selfMs: number;
  readonly isCritical: boolean;
  /** It begins before its parent or ends after it by more than clocks differ: shown as it is (TRC-11). */
  readonly isOutsideParent: boolean;
}

export interface TraceLayout {
  readonly rows: readonly TraceRowLayout[];
  readonly startNano: number;
  readonly endNano: number;
  readonly durationMs: number;
  readonly spanCount: number;
  readonly services: readonly string[];
  readonly status: 'ok' | 'error' | 'pending';
}

/** Rows in drawing order. Spans below `depthMax` are counted but get no row. */
export function layoutTrace(roots: readonly TreeSpan[], nowNano: number, depthMax = Infinity): TraceLayout {
  const all = flatten(roots);
  const startNano = all.reduce((least, { span }) => Math.min(least, span.start_time_unix_nano), Infinity);
  const endNano = all.reduce((most, { span }) => Math.max(most, endOf(span, nowNano)), 0);
  const intervals = treeIntervals(nowNano);
  const critical = new Set(roots.flatMap((root) => criticalPath(root, intervals).map(({ span }) => span.span_id)));
  const lengthNano = Math.max(1, endNano - startNano);
  const rows = all
    .filter(({ depth }) => depth <= depthMax)
    .map(({ span, parent, ...rest }) => {
      const spanEnd = endOf(span, nowNano);
      return {
        ...rest,
        span,
        offset: (span.start_time_unix_nano - startNano) / lengthNano,
        width: (spanEnd - span.start_time_unix_nano) / lengthNano,
        durationMs: toMs(spanEnd - span.start_time_unix_nano),
        selfMs: toMs(selfNano(span, nowNano)),
        isCritical: critical.has(span.span_id),
        isOutsideParent: parent !== undefined && isOutside(span, parent, nowNano),
      };
    });
  return {
    rows,
    startNano: all.length === 0 ? 0 : startNano,
    endNano,
    durationMs: all.length === 0 ? 0 : toMs(endNano - startNano),
    spanCount: all.reduce((sum, { span }) => sum + 1 + (span.hidden_count ?? 0), 0),
    services: [...new Set(all.map(({ span }) => span.service_name))].sort(),
    status: statusOf(roots, all),
  };
}

interface PlacedSpan {
  readonly span: TreeSpan;
  readonly parent: TreeSpan | undefined;
  readonly depth: number;
  readonly openLevels: readonly boolean[];
  readonly isLastChild: boolean;
}

/** Parents before children, without recursion: a trace may be deeper than the stack. */
function flatten(roots: readonly TreeSpan[]): PlacedSpan[] {
  const placed: PlacedSpan[] = [];
  const waiting = roots
    .map((span): PlacedSpan => ({ span, parent: undefined, depth: 0, openLevels: [], isLastChild: true }))
    .reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    placed.push(next);
    const { span, depth, openLevels, isLastChild } = next;
    const below = depth === 0 ? [] : [...openLevels, !isLastChild];
    for (let index = span.children.length - 1; index >= 0; index -= 1) {
      const child = span.children[index];
      if (child === undefined) continue;
      const isLast = index === span.children.length - 1;
      waiting.push({ span: child, parent: span, depth: depth + 1, openLevels: below, isLastChild: isLast });
    }
  }
  return placed;
}

/** The span's time minus the union of its children's, each cut to the span. */
function selfNano(span: TreeSpan, nowNano: number): number {
  const start = span.start_time_unix_nano;
  const end = endOf(span, nowNano);
  const children = [...span.children].sort((a, b) => a.start_time_unix_nano - b.start_time_unix_nano);
  let self = end - start;
  let coveredTo = start;
  for (const child of children) {
    const from = Math.max(child.start_time_unix_nano, coveredTo);
    const to = Math.min(endOf(child, nowNano), end);
    if (to <= from) continue;
    self -= to - from;
    coveredTo = to;
  }
  return Math.max(0, self);
}

function isOutside(span: TreeSpan, parent: TreeSpan, nowNano: number): boolean {
  return (
    span.start_time_unix_nano < parent.start_time_unix_nano - CLOCK_NANO ||
    endOf(span, nowNano) > endOf(parent, nowNano) + CLOCK_NANO
  );
}

/**
 * Pending while the root, or any span where there are several roots, has not ended; otherwise an error if there is one.
 */
function statusOf(roots: readonly TreeSpan[], all: readonly PlacedSpan[]): TraceLayout['status'] {
  const deciding = roots.length === 1 && roots[0]?.parent_span_id === null ? roots : all.map(({ span }) => span);
  if (deciding.some(({ pending }) => pending === true)) return 'pending';
  return all.some(({ span }) => span.status === 'error') ? 'error' : 'ok';
}

/** Nanoseconds since 1970 are rounded to some hundreds: digits below a microsecond mean nothing. */
function toMs(nano: number): number {
  return Math.round(nano / 1_000) / 1_000;
}
