// One trace: its spans, level by level where there are many; a single span; and the trace as a file for other tools.

import type {
  MissingTrace,
  RetainedList,
  RunsQuery,
  SpanRow,
  TraceDetail,
  TraceQuery,
} from '../../../console/api/telemetry.ts';
import type { Run } from '../../../core/telemetry/spans/runs.ts';
import { toChromeTrace, toOtlpJson } from '../../../core/telemetry/spans/trace-export.ts';
import {
  validateExportQuery,
  validateNoQuery,
  validateRunsQuery,
  validateTraceQuery,
} from '../../../generated/console-requests.ts';
import type { ConsoleContext } from '../console-context.ts';
import type { Answers } from '../sources/built-ins.ts';
import { notFound } from '../sources/failure.ts';
import { placeOf } from './page.ts';
import { type Route, reading } from './route.ts';

/** Above it spans come without attributes and events, which are read one span at a time (TRC-10). */
const FULL_SPANS_MAX = 20_000;

export function traceRoutes(context: ConsoleContext): readonly Route[] {
  return [
    reading('GET /functions/{id}/runs', validateRunsQuery, ({ name, query }) => runsOf(context, name(0), query)),
    reading('GET /traces/{id}', validateTraceQuery, async ({ name, query }) => {
      return detailOf(name(0), await treeOf(context, name(0)), query);
    }),
    reading('GET /traces/{id}/spans/{span}', validateNoQuery, async ({ name }) => {
      const trace = await treeOf(context, name(0));
      for (const { span } of walk(trace)) if (span.span_id === name(1)) return rowOf(trace, span, false);
      throw notFound('Span', name(1));
    }),
    reading('GET /traces/{id}/spans/{span}/payloads', validateNoQuery, ({ name }) => {
      return context.builtIns.ask('engine::traces::payloads', { trace_id: name(0), span_id: name(1) });
    }),
    reading('GET /traces/{id}/export', validateExportQuery, async ({ name, query }) => {
      const trace = await treeOf(context, name(0));
      const spans = [...walk(trace)].map(({ span }) => span);
      const nowNano = context.module.clock.nowMs() * 1e6;
      return query.format === 'chrome' ? toChromeTrace(spans, nowNano) : toOtlpJson(spans);
    }),
  ];
}

async function runsOf(
  { builtIns }: ConsoleContext,
  functionId: string,
  { errors, start_time, end_time, ...page }: RunsQuery,
): Promise<RetainedList<Run>> {
  const { limit, offset } = placeOf(page);
  const status = errors === true ? 'error' : null;
  const asked = { function_id: functionId, status, start_time, end_time, limit, offset };
  const { runs, total, retention } = await builtIns.ask('engine::traces::runs', asked);
  const end = offset + runs.length;
  return { items: [...runs], next_cursor: end < total ? String(end) : null, total, retention };
}

type TreeSpan = Answers['engine::traces::tree']['roots'][number];

/** A trace of any depth. */
interface WholeTrace {
  readonly roots: readonly TreeSpan[];
  childrenOf(span: TreeSpan): readonly TreeSpan[];
}

async function treeOf({ builtIns }: ConsoleContext, traceId: string): Promise<WholeTrace> {
  const ask = (parent?: string) =>
    builtIns.ask('engine::traces::tree', { trace_id: traceId, ...(parent && { parent }) });
  const { roots, retention } = await ask();
  if (roots.length === 0) throw notFound('Trace', traceId, { retention } satisfies MissingTrace);
  // The depth of one answer is limited.
  const below = new Map<string, readonly TreeSpan[]>();
  const whole = { roots, childrenOf: (span: TreeSpan) => below.get(span.span_id) ?? span.children };
  const cutOff = cutOffIn(roots);
  for (let span = cutOff.pop(); span !== undefined; span = cutOff.pop()) {
    const [found] = (await ask(span.span_id)).roots;
    const children = found?.children ?? [];
    below.set(span.span_id, children);
    cutOff.push(...cutOffIn(children));
  }
  return whole;
}

/** The spans whose children an answer has left out. */
function cutOffIn(roots: readonly TreeSpan[]): TreeSpan[] {
  const spans = [...walk({ roots, childrenOf: ({ children }) => children })].map(({ span }) => span);
  return spans.filter(({ hidden_count = 0 }) => hidden_count > 0);
}

function detailOf(traceId: string, trace: WholeTrace, { max_depth = Number.POSITIVE_INFINITY, parent }: TraceQuery) {
  let count = 0;
  let hasError = false;
  const shown: { span: TreeSpan; depth: number }[] = [];
  let parentDepth: number | undefined = parent === undefined ? -1 : undefined;
  for (const { span, depth } of walk(trace)) {
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
  const isPending = trace.roots.some((root) => root.pending === true);
  const condensed = shown.length > FULL_SPANS_MAX;
  const detail: TraceDetail = {
    trace_id: traceId,
    status: isPending ? 'pending' : hasError ? 'error' : 'ok',
    spans: shown
      .map(({ span }) => rowOf(trace, span, condensed))
      .sort((a, b) => a.start_time_unix_nano - b.start_time_unix_nano),
    span_count: count,
    condensed,
  };
  return detail;
}

function rowOf(trace: WholeTrace, span: TreeSpan, isCondensed: boolean): SpanRow {
  const { children: _children, hidden_count: _hidden, ...record } = span;
  const row = { ...record, child_count: trace.childrenOf(span).length };
  return isCondensed ? { ...row, attributes: [], events: [], links: [] } : row;
}

/** Parents before their children. Not recursive, because chains of calls may be long. */
function* walk({ roots, childrenOf }: WholeTrace): Generator<{ span: TreeSpan; depth: number }> {
  const open = [...roots].reverse().map((span) => ({ span, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    const { span, depth } = next;
    for (const child of [...childrenOf(span)].reverse()) open.push({ span: child, depth: depth + 1 });
  }
}
