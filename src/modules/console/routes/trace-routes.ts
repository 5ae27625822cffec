// One trace: its spans, level by level where there are many; a single span; and the trace as a file for other tools.

import type { SpanRow, TraceDetail, TraceQuery } from '../../../console-api/telemetry.ts';
import { isSpanTree } from '../../../generated/console-answers.ts';
import { validateExportQuery, validateNoQuery, validateTraceQuery } from '../../../generated/console-requests.ts';
import type { Desk } from '../desk.ts';
import type { SpanTree, TreeSpan } from '../facts/answers.ts';
import { notFound } from '../facts/failure.ts';
import { type Route, reading } from './route.ts';
import { toChrome, toOtlp } from './trace-export.ts';

/** Above it spans come without attributes and events, which are read one span at a time (TRC-10). */
const FULL_SPANS_MAX = 20_000;

export function traceRoutes(desk: Desk): readonly Route[] {
  return [
    reading('GET /traces/{id}', validateTraceQuery, async ({ name, query }) => {
      return detailOf(name(0), await treeOf(desk, name(0)), query);
    }),
    reading('GET /traces/{id}/spans/{span}', validateNoQuery, async ({ name }) => {
      const tree = await treeOf(desk, name(0));
      for (const { span } of walk(tree.roots)) if (span.span_id === name(1)) return rowOf(span, false);
      throw notFound('Span', name(1));
    }),
    reading('GET /traces/{id}/export', validateExportQuery, async ({ name, query }) => {
      const tree = await treeOf(desk, name(0));
      const spans = [...walk(tree.roots)].map(({ span }) => span);
      return query.format === 'chrome' ? toChrome(spans) : toOtlp(spans);
    }),
  ];
}

async function treeOf({ builtIns }: Desk, traceId: string): Promise<SpanTree> {
  const ask = (parent?: string): Promise<SpanTree> =>
    builtIns.typed<SpanTree>('engine::traces::tree', { trace_id: traceId, ...(parent && { parent }) }, isSpanTree);
  const tree = await ask();
  if (tree.roots.length === 0) throw notFound('Trace', traceId);
  // The depth of one answer is limited.
  const cutOff = [...walk(tree.roots)].map(({ span }) => span).filter(({ hidden_count = 0 }) => hidden_count > 0);
  for (let span = cutOff.pop(); span !== undefined; span = cutOff.pop()) {
    const [below] = (await ask(span.span_id)).roots;
    span.children = below?.children ?? [];
    for (const { span: inner } of walk(span.children)) if ((inner.hidden_count ?? 0) > 0) cutOff.push(inner);
  }
  return tree;
}

function detailOf(traceId: string, { roots }: SpanTree, { max_depth = Number.POSITIVE_INFINITY, parent }: TraceQuery) {
  let count = 0;
  let hasError = false;
  const shown: { span: TreeSpan; depth: number }[] = [];
  let parentDepth: number | undefined = parent === undefined ? -1 : undefined;
  for (const { span, depth } of walk(roots)) {
    count++;
    hasError ||= span.status === 'error';
    if (parent !== undefined) {
      // The descendants follow their parent, until the walk is back at its level.
      if (parentDepth !== undefined && depth <= parentDepth) parentDepth = undefined;
      if (span.span_id === parent) {
        parentDepth = depth;
        continue;
      }
    }
    if (parentDepth !== undefined && depth - parentDepth <= max_depth) shown.push({ span, depth });
  }
  const isPending = roots.some((root) => root.pending === true);
  const condensed = shown.length > FULL_SPANS_MAX;
  const detail: TraceDetail = {
    trace_id: traceId,
    status: isPending ? 'pending' : hasError ? 'error' : 'ok',
    spans: shown
      .map(({ span }) => rowOf(span, condensed))
      .sort((a, b) => a.start_time_unix_nano - b.start_time_unix_nano),
    span_count: count,
    condensed,
  };
  return detail;
}

function rowOf({ children, hidden_count: _hidden, ...span }: TreeSpan, isCondensed: boolean): SpanRow {
  const row = { ...span, child_count: children.length };
  return isCondensed ? { ...row, attributes: [], events: [], links: [] } : row;
}

/** Parents before their children. Not recursive, because chains of calls may be long. */
function* walk(roots: readonly TreeSpan[]): Generator<{ span: TreeSpan; depth: number }> {
  const open = [...roots].reverse().map((span) => ({ span, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    const { span, depth } = next;
    for (const child of [...span.children].reverse()) open.push({ span: child, depth: depth + 1 });
  }
}
