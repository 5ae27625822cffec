// `svc trace show` and `export`: one trace drawn, or printed as a file for other tools.

import type { LogRecord } from '../../../core/telemetry/records/records.ts';
import { criticalPath, type PathSegment, treeIntervals } from '../../../core/telemetry/spans/critical-path.ts';
import { toChromeTrace, toOtlpJson } from '../../../core/telemetry/spans/trace-export.ts';
import { layoutTrace, type TraceLayout, type TraceRowLayout } from '../../../core/telemetry/spans/trace-layout.ts';
import type { TreeSpan } from '../../../core/telemetry/spans/trace-tree.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { numberIn, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { explainNoMemory, findTraceId, flatSpans, readTrace } from './spans.ts';
import { drawCriticalSums, drawTrace, headline } from './trace-drawing.ts';

const FLAGS = {
  critical: { kind: 'switch', help: 'Only the spans on the critical path.' },
  logs: { kind: 'switch', help: 'Show log entries below the spans that wrote them.' },
  depth: { kind: 'count', placeholder: '<n>', min: 0, max: 10_000, help: 'Number of levels below the roots.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type ShowContext = Context<typeof FLAGS>;
type TraceLog = Pick<LogRecord, 'span_id' | 'timestamp_unix_nano' | 'severity_text' | 'body'>;

const LOGS_MAX = 1_000;

export const traceShow = defineCommand({
  name: 'trace show',
  summary: 'Draw one trace: its calls, their order and durations.',
  operands: {
    usage: '<id|last>',
    min: 1,
    max: 1,
    help: 'The id of the trace, its first digits, or last.',
    kinds: ['trace'],
  },
  details: [
    'The critical path, marked with a diamond, is the chain of spans that determined the duration of the trace: a ' +
      'faster span on it makes the trace faster. Arrows mark a span that lies outside its parent.',
    'In a pipe: one row per span with depth, name, service, start and duration in milliseconds, and status.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc trace show last', shows: 'The newest trace.' },
    { line: 'svc trace show 4bf92f35 --critical', shows: 'The spans that determined its duration.' },
    { line: 'svc trace show last --logs', shows: 'With its log entries.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [wanted = ''] = context.operands;
    const { roots, logs } = await withEngine(context, async (engine) => {
      try {
        const traceId = await findTraceId(engine, wanted);
        const found = await readTrace(engine, traceId);
        return { roots: found, logs: context.flags.logs ? await readLogs(engine, traceId) : [] };
      } catch (error) {
        throw explainNoMemory(error);
      }
    });
    show(context, roots, logs);
    return EXIT.done;
  },
});

async function readLogs(engine: EngineConnection, traceId: string): Promise<TraceLog[]> {
  const answer = await engine.call('engine::logs::list', { trace_id: traceId, limit: LOGS_MAX });
  return recordsIn(answer, 'logs')
    .map((log) => ({
      span_id: textIn(log, 'span_id') || null,
      timestamp_unix_nano: numberIn(log, 'timestamp_unix_nano') ?? 0,
      severity_text: severityOf(textIn(log, 'severity_text')),
      body: textIn(log, 'body'),
    }))
    .sort((a, b) => a.timestamp_unix_nano - b.timestamp_unix_nano);
}

const SEVERITIES: readonly LogRecord['severity_text'][] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];

function severityOf(text: string): LogRecord['severity_text'] {
  return SEVERITIES.find((severity) => severity === text) ?? 'INFO';
}

function show({ flags, output, terminal }: ShowContext, roots: readonly TreeSpan[], logs: readonly TraceLog[]): void {
  const nowNano = terminal.now() * 1e6;
  const whole = layoutTrace(roots, nowNano, flags.depth);
  const layout = flags.critical ? { ...whole, rows: whole.rows.filter((row) => row.isCritical) } : whole;
  const segments = roots.flatMap((root) => criticalPath(root, treeIntervals(nowNano)));
  const { format, paintOut } = output;
  if (format === 'json' || format === 'jsonl') {
    output.printDocument(documentOf(layout, segments, flags.logs ? logs : undefined), '');
    return;
  }
  // Boxes and bars are drawn only on terminals that can show them (CLI-5).
  if (format === 'csv' || !terminal.out.isTerminal || terminal.env.TERM === 'dumb') {
    output.printRows({ columns: COLUMNS, rows: layout.rows.map((row) => ({ row, layout })), records: [] });
    return;
  }
  const lines = [
    headline(whole, paintOut),
    ...drawTrace(layout, { columns: terminal.out.columns ?? 80, paint: paintOut, logs }),
    ...(flags.critical ? ['', drawCriticalSums(sumsOf(segments), whole.durationMs)] : []),
  ];
  terminal.out.write(`${lines.join('\n')}\n`);
  const stray = logs.filter(({ span_id: id }) => !whole.rows.some(({ span }) => span.span_id === id)).length;
  if (stray > 0) output.note(`${stray} more log entries of this trace belong to no span above: svc logs --trace <id>`);
}

function sumsOf(segments: readonly PathSegment<TreeSpan>[]): { service: string; durationMs: number }[] {
  const sums = new Map<string, number>();
  for (const { span, start, end } of segments) {
    sums.set(span.service_name, (sums.get(span.service_name) ?? 0) + (end - start) / 1e6);
  }
  return [...sums]
    .map(([service, durationMs]) => ({ service, durationMs: round(durationMs) }))
    .sort((a, b) => b.durationMs - a.durationMs);
}

function documentOf(
  layout: TraceLayout,
  segments: readonly PathSegment<TreeSpan>[],
  logs: readonly TraceLog[] | undefined,
) {
  return {
    trace_id: layout.rows[0]?.span.trace_id ?? null,
    status: layout.status,
    duration_ms: layout.durationMs,
    span_count: layout.spanCount,
    services: layout.services,
    started_at: new Date(Math.floor(layout.startNano / 1e6)).toISOString(),
    spans: layout.rows.map((row) => {
      const { children: _below, duration_ms: _rounded, ...span } = row.span;
      return {
        ...span,
        depth: row.depth,
        start_ms: startMs(row, layout),
        duration_ms: row.durationMs,
        self_ms: row.selfMs,
        critical: row.isCritical,
      };
    }),
    critical_path: segments.map(({ span, start, end }) => ({
      span_id: span.span_id,
      service_name: span.service_name,
      start_ms: round((start - layout.startNano) / 1e6),
      duration_ms: round((end - start) / 1e6),
    })),
    critical_ms_by_service: Object.fromEntries(
      sumsOf(segments).map(({ service, durationMs }) => [service, durationMs]),
    ),
    ...(logs === undefined ? {} : { logs }),
  };
}

const COLUMNS: readonly Column<{ row: TraceRowLayout; layout: TraceLayout }>[] = [
  { name: 'depth', text: ({ row }) => String(row.depth) },
  { name: 'name', text: ({ row }) => row.span.name },
  { name: 'service', text: ({ row }) => row.span.service_name },
  { name: 'start_ms', text: ({ row, layout }) => String(startMs(row, layout)) },
  { name: 'duration_ms', text: ({ row }) => String(row.durationMs), raw: ({ row }) => String(row.durationMs) },
  { name: 'status', text: ({ row }) => (row.span.pending === true ? 'pending' : row.span.status) },
  { name: 'critical', text: ({ row }) => (row.isCritical ? 'critical' : '') },
  { name: 'span_id', text: ({ row }) => row.span.span_id },
  { name: 'error', text: ({ row }) => row.span.status_description ?? '' },
];

function startMs({ span }: TraceRowLayout, { startNano }: TraceLayout): number {
  return round((span.start_time_unix_nano - startNano) / 1e6);
}

function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

export const traceExport = defineCommand({
  name: 'trace export',
  summary: 'Print one trace as a file for other tools.',
  operands: {
    usage: '<id|last>',
    min: 1,
    max: 1,
    help: 'The id of the trace, its first digits, or last.',
    kinds: ['trace'],
  },
  details: [
    'otlp is the JSON format of OpenTelemetry, for collectors and trace viewers. chrome is the trace event ' +
      'format, for   Perfetto (ui.perfetto.dev) and chrome://tracing.',
  ],
  flags: {
    format: {
      kind: 'choice',
      placeholder: '<format>',
      choices: ['otlp', 'chrome'],
      fallback: 'otlp',
      help: 'Format of the file.',
    },
    ...CONNECTION_FLAGS,
  },
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc trace export last --format chrome > trace.json', shows: 'A file for Perfetto.' },
    { line: 'svc trace export 4bf92f35', shows: 'The trace as OTLP JSON.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, output, operands, terminal } = context;
    const [wanted = ''] = operands;
    const spans = await withEngine(context, async (engine) => {
      try {
        return flatSpans(await readTrace(engine, await findTraceId(engine, wanted)));
      } catch (error) {
        throw explainNoMemory(error);
      }
    });
    output.printJson(flags.format === 'chrome' ? toChromeTrace(spans, terminal.now() * 1e6) : toOtlpJson(spans));
    return EXIT.done;
  },
});
