// The rows and filters of `svc trace list` and `svc trace tail`: one trace each.

import { usageFailure } from '../../kernel/failures.ts';
import type { FlagTable, FlagValues } from '../../kernel/flags.ts';
import { formatDuration, formatTime } from '../../text/durations.ts';
import { momentOf } from '../../text/moments.ts';
import type { Output } from '../../text/output.ts';
import { type JsonRecord, numberIn, textIn, textsIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import type { Terminal } from '../../text/terminal.ts';

const DURATION_MS_MAX = 24 * 3_600_000;

export const TRACE_FILTER_FLAGS = {
  status: {
    kind: 'choice',
    placeholder: '<status>',
    choices: ['ok', 'error', 'pending'],
    help: 'Only traces in this state.',
  },
  service: { kind: 'text', placeholder: '<text>', help: 'Only traces with a service whose name contains the text.' },
  name: { kind: 'text', placeholder: '<text>', help: 'Only traces with a span whose name contains the text.' },
  min: {
    kind: 'duration',
    placeholder: '<duration>',
    maxMs: DURATION_MS_MAX,
    help: 'Only traces that took at least this long.',
  },
  max: {
    kind: 'duration',
    placeholder: '<duration>',
    maxMs: DURATION_MS_MAX,
    help: 'Only traces that took at most this long.',
  },
  attr: { kind: 'texts', placeholder: '<key=value>', help: 'Only traces with this attribute; may be repeated.' },
  internal: { kind: 'switch', help: 'Include traces of the engine itself.' },
} as const satisfies FlagTable;

export interface TraceRow {
  readonly trace_id: string;
  readonly service: string;
  readonly name: string;
  readonly duration_ms: number;
  readonly status: 'ok' | 'error' | 'pending';
  readonly span_count: number;
  readonly error_count: number;
  readonly services: readonly string[];
  /** ISO 8601. */
  readonly started_at: string;
}

/** The payload for `engine::traces::list`. */
export function traceQuery(flags: FlagValues<typeof TRACE_FILTER_FLAGS>): Record<string, unknown> {
  return {
    ...(flags.service === undefined ? {} : { service_name: flags.service }),
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.status === undefined ? {} : { status: flags.status }),
    ...(flags.min === undefined ? {} : { min_duration_ms: flags.min }),
    ...(flags.max === undefined ? {} : { max_duration_ms: flags.max }),
    ...(flags.attr.length === 0 ? {} : { attributes: flags.attr.map(readPair) }),
    search_all_spans: true,
    include_internal: flags.internal,
  };
}

export function timeRange(flags: { since: string | undefined; until: string | undefined }, nowMs: number) {
  const startTime = momentOf('--since', flags.since, nowMs);
  const endTime = momentOf('--until', flags.until, nowMs);
  return {
    ...(startTime === undefined ? {} : { start_time: startTime }),
    ...(endTime === undefined ? {} : { end_time: endTime }),
  };
}

export function readTraceRow(root: JsonRecord): TraceRow {
  const services = textsIn(root, 'services');
  const startMs = (numberIn(root, 'start_time_unix_nano') ?? 0) / 1e6;
  return {
    trace_id: textIn(root, 'trace_id'),
    service: textIn(root, 'service_name'),
    name: textIn(root, 'name'),
    duration_ms: Math.round((numberIn(root, 'duration_ms') ?? 0) * 1_000) / 1_000,
    status: readStatus(root),
    span_count: numberIn(root, 'span_count') ?? 1,
    error_count: numberIn(root, 'error_count') ?? (root.has_error === true ? 1 : 0),
    services: services.length > 0 ? services : [textIn(root, 'service_name')],
    started_at: new Date(Math.floor(startMs)).toISOString(),
  };
}

export function traceColumns({
  output,
  terminal,
}: {
  output: Output;
  terminal: Terminal;
}): readonly Column<TraceRow>[] {
  const nowMs = terminal.now();
  return [
    {
      name: 'trace',
      text: (row) => (output.format === 'table' && terminal.out.isTerminal ? row.trace_id.slice(0, 16) : row.trace_id),
    },
    { name: 'service', cut: 'middle', text: (row) => row.service },
    { name: 'name', cut: 'end', text: (row) => row.name },
    {
      name: 'duration',
      align: 'right',
      text: (row) => formatDuration(row.duration_ms),
      raw: (row) => String(row.duration_ms),
    },
    { name: 'status', text: statusText, raw: (row) => row.status },
    { name: 'spans', align: 'right', text: (row) => String(row.span_count) },
    {
      name: 'started',
      text: (row) => formatTime(Date.parse(row.started_at), output.timeStyle, nowMs),
      raw: (row) => row.started_at,
    },
    { name: 'services', wideOnly: true, cut: 'end', text: (row) => row.services.join(' ') },
  ];
}

/** `Error` with how many spans failed, when it is more than one. */
export function statusText({ status, error_count: errors }: TraceRow): string {
  if (status === 'pending') return 'Pending';
  if (status === 'ok') return 'OK';
  return errors > 1 ? `Error (${errors})` : 'Error';
}

function readStatus(root: JsonRecord): TraceRow['status'] {
  const word = textIn(root, 'trace_status');
  if (word === 'ok' || word === 'error' || word === 'pending') return word;
  if (root.pending === true) return 'pending';
  return root.has_error === true || root.status === 'error' ? 'error' : 'ok';
}

function readPair(text: string): [string, string] {
  const split = text.indexOf('=');
  if (split > 0) return [text.slice(0, split), text.slice(split + 1)];
  throw usageFailure(`--attr is '${text}': expected key=value.`);
}
