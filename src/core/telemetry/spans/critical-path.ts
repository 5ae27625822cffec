// The critical path of a trace (TRC-7): the chain of intervals that determined when the root ended. Shortening one of
// them shortens the whole; shortening anything else does not. Linear after sorting the children of each span.

import type { TreeSpan } from './trace-tree.ts';

/** An interval in which this span, and none below it, delayed the end. */
export interface PathSegment {
  readonly span: TreeSpan;
  readonly startNano: number;
  readonly endNano: number;
}

/**
 * A child that ends later than its parent was not waited for: fire-and-forget, or queued. Clocks of two processes may
 * still differ by about this much.
 */
const CLOCK_NANO = 1_000_000;

/** In time order. `nowNano` is the end of spans that have not ended. */
export function criticalPath(root: TreeSpan, nowNano: number): PathSegment[] {
  const backwards: PathSegment[] = [];
  const stack = [openFrame(root, endOf(root, nowNano), nowNano)];
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const { span, cursorNano } = frame;
    const startNano = span.start_time_unix_nano;
    const child = nextChild(frame, nowNano);
    const endOfChild = child === undefined ? startNano : Math.min(endOf(child, nowNano), cursorNano);
    if (cursorNano > endOfChild) backwards.push({ span, startNano: endOfChild, endNano: cursorNano });
    if (child === undefined) {
      stack.pop();
      continue;
    }
    frame.cursorNano = Math.max(child.start_time_unix_nano, startNano);
    stack.push(openFrame(child, endOfChild, nowNano));
  }
  return backwards.reverse();
}

/** The ids of the spans on it. */
export function criticalSpanIds(root: TreeSpan, nowNano: number): Set<string> {
  return new Set(criticalPath(root, nowNano).map(({ span }) => span.span_id));
}

export function endOf(span: TreeSpan, nowNano: number): number {
  const endNano = span.pending === true ? nowNano : span.end_time_unix_nano;
  return Math.max(endNano, span.start_time_unix_nano);
}

interface Frame {
  readonly span: TreeSpan;
  /** Latest end first. */
  readonly children: readonly TreeSpan[];
  next: number;
  /** Everything of this span after it is covered. */
  cursorNano: number;
}

function openFrame(span: TreeSpan, cursorNano: number, nowNano: number): Frame {
  const children = [...span.children].sort((a, b) => endOf(b, nowNano) - endOf(a, nowNano));
  return { span, children, next: 0, cursorNano };
}

/** The child that ended last before the cursor, and that its parent can have waited for. */
function nextChild(frame: Frame, nowNano: number): TreeSpan | undefined {
  while (frame.next < frame.children.length) {
    const child = frame.children[frame.next];
    frame.next += 1;
    if (child === undefined) return undefined;
    const endNano = endOf(child, nowNano);
    const isInTime = endNano <= frame.cursorNano + CLOCK_NANO;
    const hasPart = Math.min(endNano, frame.cursorNano) > frame.span.start_time_unix_nano;
    if (isInTime && hasPart && child.start_time_unix_nano < frame.cursorNano) return child;
  }
  return undefined;
}
