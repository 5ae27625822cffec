// A trace as lines of a terminal: the tree of names, a bar for start and duration, the duration, and ◆ on the critical
// path. Errors are red, with their message below.

import type { LogRecord } from '../../../core/telemetry/records/records.ts';
import type { TraceLayout, TraceRowLayout } from '../../../core/telemetry/spans/trace-layout.ts';
import type { Painter } from '../../text/colour.ts';
import { cut, displayWidth, padEnd, padStart, stripUnsafe } from '../../text/display-text.ts';
import { formatDuration } from '../../text/times.ts';
import { severityPaint } from './log-lines.ts';

export interface DrawingOptions {
  readonly columns: number;
  readonly paint: Painter;
  /** Log entries of the trace, drawn below the span that wrote them. */
  readonly logs: readonly Pick<LogRecord, 'span_id' | 'timestamp_unix_nano' | 'severity_text' | 'body'>[];
}

const GAP = '  ';
const CRITICAL = '◆';
const NAME_SHARE_MAX = 0.45;
const BAR_COLUMNS_MIN = 10;
const BAR_COLUMNS_MAX = 80;

const STATUS_WORDS = { ok: 'OK', error: 'Error', pending: 'Pending' } as const;

/** `4bf92f3577b34da6  POST /orders  OK  182 ms  7 spans  2 services` */
export function headline(layout: TraceLayout, paint: Painter): string {
  const root = layout.rows[0]?.span;
  const word = STATUS_WORDS[layout.status];
  const status =
    layout.status === 'error' ? paint.red(word) : layout.status === 'ok' ? paint.green(word) : paint.yellow(word);
  return [
    paint.dim((root?.trace_id ?? '').slice(0, 16)),
    paint.bold(stripUnsafe(root?.name ?? '')),
    status,
    formatDuration(layout.durationMs),
    counted(layout.spanCount, 'span'),
    counted(layout.services.length, 'service'),
  ].join(GAP);
}

export function drawTrace(layout: TraceLayout, { columns, paint, logs }: DrawingOptions): string[] {
  const { rows } = layout;
  const durations = rows.map((row) => durationText(row));
  const durationColumns = Math.max(0, ...durations.map((text) => text.length));
  const names = rows.map((row) => guides(row) + stripUnsafe(labelOf(row)));
  const nameColumns = Math.min(
    Math.max(0, ...names.map(displayWidth)),
    Math.max(20, Math.floor(columns * NAME_SHARE_MAX)),
  );
  const rest = columns - nameColumns - durationColumns - GAP.length * 2 - 2;
  const barColumns = Math.min(BAR_COLUMNS_MAX, Math.max(BAR_COLUMNS_MIN, rest));
  return rows.flatMap((row, index) => {
    const isError = row.span.status === 'error';
    const name = padEnd(cut(names[index] ?? '', nameColumns, 'end'), nameColumns);
    const bar = drawBar(row.offset, row.width, barColumns);
    const painted = isError ? paint.red(bar) : row.isCritical ? bar : paint.dim(bar);
    const line = [isError ? paint.red(name) : name, painted, padStart(durations[index] ?? '', durationColumns)];
    return [
      `${line.join(GAP)}${row.isCritical ? ` ${paint.yellow(CRITICAL)}` : ''}`.trimEnd(),
      ...remarks(row, layout.startNano, logs, paint).map(
        (remark) => paint.dim(below(row)) + remark.paint(cut(remark.text, columns - displayWidth(below(row)), 'end')),
      ),
    ];
  });
}

/**
 * The bar from its offset, in eighths of a column at the end and halves at the beginning; at least a hairline. A dot
 * marks where the trace begins for bars that begin later.
 */
export function drawBar(offset: number, width: number, columns: number): string {
  const start = Math.min(Math.max(offset, 0), 1) * columns;
  const end = Math.min(Math.max(offset + width, 0), 1) * columns;
  let first = Math.min(Math.floor(start), columns - 1);
  let head = '';
  if (start - first >= 0.5 && Math.floor(end) > first) {
    head = '▐';
    first += 1;
  }
  const whole = Math.max(0, Math.floor(end) - first);
  const eighths = Math.floor(end) >= first ? Math.round((end - Math.floor(end)) * 8) : 0;
  const tail = whole + first < columns ? (EIGHTHS[eighths] ?? '') : '';
  const bar = head + '█'.repeat(whole) + tail;
  const lead = first - head.length;
  const before = lead > 1 ? `·${' '.repeat(lead - 1)}` : ' '.repeat(lead);
  return padEnd(before + (bar === '' ? '▏' : bar), columns);
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/** The time that the critical path spent in each service, longest first. */
export function drawCriticalSums(sums: readonly { service: string; durationMs: number }[], totalMs: number): string {
  const parts = sums.map(({ service, durationMs }) => {
    const percent = Math.round((durationMs / Math.max(totalMs, 0.001)) * 100);
    return `${stripUnsafe(service)} ${formatDuration(durationMs)} (${percent} %)`;
  });
  return `${CRITICAL} critical path: ${parts.join(', ')}`;
}

function labelOf({ span, isOutsideParent }: TraceRowLayout): string {
  return isOutsideParent ? `${span.name} ⇄` : span.name;
}

function durationText({ span, durationMs }: TraceRowLayout): string {
  return `${formatDuration(durationMs)}${span.pending === true ? '…' : ''}`;
}

function guides({ depth, openLevels, isLastChild }: TraceRowLayout): string {
  if (depth === 0) return '';
  return `${openLevels.map((open) => (open ? '│  ' : '   ')).join('')}${isLastChild ? '└─ ' : '├─ '}`;
}

/** Guides of the lines below a row that belong to it. */
function below({ depth, openLevels, isLastChild, span }: TraceRowLayout): string {
  const above =
    depth === 0 ? '' : `${openLevels.map((open) => (open ? '│  ' : '   ')).join('')}${isLastChild ? '   ' : '│  '}`;
  return `${above}${span.children.length > 0 ? '│  ' : '   '}`;
}

interface Remark {
  readonly text: string;
  readonly paint: (text: string) => string;
}

function remarks({ span }: TraceRowLayout, startNano: number, logs: DrawingOptions['logs'], paint: Painter): Remark[] {
  const error = errorText(span);
  const own = logs.filter(({ span_id: id }) => id === span.span_id);
  return [
    ...(error === undefined ? [] : [{ text: `✘ ${error}`, paint: paint.red }]),
    ...own.map((log) => {
      const at = formatDuration(Math.max(0, (log.timestamp_unix_nano - startNano) / 1e6));
      const text = `+${at} ${stripUnsafe(log.severity_text)} ${stripUnsafe(log.body)}`;
      return { text, paint: severityPaint(log.severity_text, paint) };
    }),
    ...(span.hidden_count === undefined ? [] : [{ text: `… ${span.hidden_count} more below`, paint: paint.dim }]),
  ];
}

function errorText({ status, status_description: description, events }: TraceRowLayout['span']): string | undefined {
  if (status !== 'error') return undefined;
  const exception = events.find(({ name }) => name === 'exception')?.attributes ?? [];
  const part = (key: string) => exception.find(([name]) => name === key)?.[1];
  const message = description ?? part('exception.message');
  const type = part('exception.type');
  const namesType = message !== undefined && type !== undefined && message.startsWith(type);
  const text = [namesType ? undefined : type, message].filter((word) => word !== undefined && word !== '').join(': ');
  return text === '' ? undefined : stripUnsafe(text);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
