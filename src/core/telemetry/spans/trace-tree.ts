// `engine::traces::tree`: the spans of a trace under their parents. A span whose parent is missing is a root: a part of
// a trace is better than none (modules 11.5). Deep traces are cut into levels for screens that load them level by
// level.

import type { SpanRecord } from '../records/records.ts';

export interface TreeSpan extends SpanRecord {
  readonly duration_ms: number;
  readonly children: readonly TreeSpan[];
  /** Spans below this one that were left out as too deep; `parent` requests them. */
  readonly hidden_count?: number;
}

export interface TreeOptions {
  /** Levels below the roots; JSON is parsed no deeper than 128, and each level takes two. */
  readonly maxDepth: number;
  /** Only this span and the spans below it. */
  readonly parent: string | undefined;
  readonly duration: (span: SpanRecord) => number;
}

export const TREE_DEPTH_MAX = 48;

export function buildTree(spans: Iterable<SpanRecord>, options: TreeOptions): TreeSpan[] {
  const known = new Map<string, SpanRecord>();
  for (const span of spans) known.set(span.span_id, span);
  const children = new Map<string, SpanRecord[]>();
  const roots: SpanRecord[] = [];
  for (const span of known.values()) {
    const { parent_span_id: parent } = span;
    if (parent === null || !known.has(parent) || parent === span.span_id) roots.push(span);
    else addTo(children, parent, span);
  }
  for (const list of children.values()) list.sort(byStart);
  const asked = options.parent === undefined ? undefined : known.get(options.parent);
  const tops = options.parent === undefined ? roots.sort(byStart) : asked === undefined ? [] : [asked];
  const seen = new Set<string>();
  const trees = tops.map((span) => grow(span, children, options, 0, seen));
  if (options.parent !== undefined) return trees;
  // Parents in a cycle have no root: each cycle is entered once.
  for (const span of [...known.values()].sort(byStart)) {
    if (!seen.has(span.span_id) && isOnCircle(span, known)) trees.push(grow(span, children, options, 0, seen));
  }
  return trees;
}

function grow(
  span: SpanRecord,
  children: ReadonlyMap<string, readonly SpanRecord[]>,
  options: TreeOptions,
  depth: number,
  seen: Set<string>,
): TreeSpan {
  seen.add(span.span_id);
  const below = (children.get(span.span_id) ?? []).filter(({ span_id }) => !seen.has(span_id));
  const own = { ...span, duration_ms: options.duration(span) };
  if (depth < options.maxDepth) {
    return { ...own, children: below.map((child) => grow(child, children, options, depth + 1, seen)) };
  }
  return below.length === 0
    ? { ...own, children: [] }
    : { ...own, children: [], hidden_count: countBelow(below, children, seen) };
}

function countBelow(
  spans: readonly SpanRecord[],
  children: ReadonlyMap<string, readonly SpanRecord[]>,
  seen: Set<string>,
): number {
  const waiting = [...spans];
  let count = 0;
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    if (seen.has(span.span_id)) continue;
    seen.add(span.span_id);
    count++;
    waiting.push(...(children.get(span.span_id) ?? []));
  }
  return count;
}

/** Whether following the parents leads back to the span itself. */
function isOnCircle(span: SpanRecord, known: ReadonlyMap<string, SpanRecord>): boolean {
  const passed = new Set<string>();
  let at: SpanRecord | undefined = span;
  while (at !== undefined && !passed.has(at.span_id)) {
    passed.add(at.span_id);
    at = at.parent_span_id === null ? undefined : known.get(at.parent_span_id);
  }
  return at?.span_id === span.span_id;
}

function addTo(groups: Map<string, SpanRecord[]>, key: string, span: SpanRecord): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [span]);
  else group.push(span);
}

function byStart(a: SpanRecord, b: SpanRecord): number {
  return a.start_time_unix_nano - b.start_time_unix_nano || (a.span_id < b.span_id ? -1 : 1);
}
