// The critical path of a trace (TRC-7): the chain of intervals that determined when the root ended. Shortening one of
// them shortens the whole; shortening anything else does not. Linear after sorting the children of each span.
//
// The command line has the spans as a tree and the page has them as columns: both implement `SpanIntervals`.

import type { TreeSpan } from './trace-tree.ts';

/** The spans of one trace, `S` being a span or its number. Times have any one unit. */
export interface SpanIntervals<S> {
  startOf(span: S): number;
  /** Not before the start. */
  endOf(span: S): number;
  childrenOf(span: S): readonly S[];
  /** A millisecond: the clocks of two processes may differ by about this much. */
  readonly clockSlack: number;
}

/** An interval in which this span, and none below it, delayed the end. */
export interface PathSegment<S> {
  readonly span: S;
  readonly start: number;
  readonly end: number;
}

/** In time order, without gap or overlap. */
export function criticalPath<S>(root: S, spans: SpanIntervals<S>): PathSegment<S>[] {
  const backwards: PathSegment<S>[] = [];
  const stack = [openFrame(root, spans.startOf(root), spans.endOf(root), spans)];
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const { span, from, cursor } = frame;
    const child = nextChild(frame, spans);
    const end = child === undefined ? from : Math.min(spans.endOf(child), cursor);
    if (cursor > end) backwards.push({ span, start: end, end: cursor });
    if (child === undefined) {
      stack.pop();
      continue;
    }
    // A child may begin before its parent: only the part inside counts.
    frame.cursor = Math.max(spans.startOf(child), from);
    stack.push(openFrame(child, frame.cursor, end, spans));
  }
  return backwards.reverse();
}

interface Frame<S> {
  readonly span: S;
  /** Latest end first. */
  readonly children: readonly S[];
  next: number;
  /** Where its part of the path begins. */
  readonly from: number;
  /** Everything of this span after it is covered. */
  cursor: number;
}

function openFrame<S>(span: S, from: number, cursor: number, spans: SpanIntervals<S>): Frame<S> {
  const children = [...spans.childrenOf(span)].sort((a, b) => spans.endOf(b) - spans.endOf(a));
  return { span, children, next: 0, from, cursor };
}

/**
 * The child that ended last before the cursor. A child that ends later than its parent was not waited for: it is
 * fire-and-forget, or queued.
 */
function nextChild<S>(frame: Frame<S>, spans: SpanIntervals<S>): S | undefined {
  while (frame.next < frame.children.length) {
    const child = frame.children[frame.next];
    frame.next += 1;
    if (child === undefined) return undefined;
    const end = spans.endOf(child);
    const isInTime = end <= frame.cursor + spans.clockSlack;
    const hasPart = Math.min(end, frame.cursor) > frame.from;
    if (isInTime && hasPart && spans.startOf(child) < frame.cursor) return child;
  }
  return undefined;
}

/** The spans of a tree, in nanoseconds. `nowNano` is the end of spans that have not ended. */
export function treeIntervals(nowNano: number): SpanIntervals<TreeSpan> {
  return {
    startOf: (span) => span.start_time_unix_nano,
    endOf: (span) => endOf(span, nowNano),
    childrenOf: (span) => span.children,
    clockSlack: CLOCK_NANO,
  };
}

export const CLOCK_NANO = 1_000_000;

export function endOf(span: TreeSpan, nowNano: number): number {
  const endNano = span.pending === true ? nowNano : span.end_time_unix_nano;
  return Math.max(endNano, span.start_time_unix_nano);
}
