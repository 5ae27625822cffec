// `svc trace list` and `clear`, and what `svc trace tail` shares with them: the filters, and one row for each trace.

import { withEngine } from '../../engine/connection.ts';
import { LIST_EXIT_CODES, listFlags, showList, timeRangeFlags } from '../../engine/listing.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONFIRM_FLAGS, CONNECTION_FLAGS, type FlagTable, type FlagValues } from '../../kernel/flags.ts';
import { confirm } from '../../text/confirm.ts';
import type { Output } from '../../text/output.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn, textsIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import type { Terminal } from '../../text/terminal.ts';
import { formatDuration, formatTime, momentOf } from '../../text/times.ts';
import { explainNoMemory } from './spans.ts';

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

export const traceList = defineCommand({
  name: 'trace list',
  summary: 'List the traces that the engine keeps, newest first.',
  details: [
    'A trace must match all filters. Show a trace with svc trace show <id>; the first digits of its id are enough.',
  ],
  flags: {
    ...TRACE_FILTER_FLAGS,
    ...timeRangeFlags('traces'),
    sort: {
      kind: 'choice',
      placeholder: '<field>',
      choices: ['start_time', 'duration', 'name', 'service_name'],
      fallback: 'start_time',
      help: 'Latest first, longest first, or alphabetical.',
    },
    ...listFlags('traces', { fallback: 50, max: 1_000 }),
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc trace list --status error --since 15m', shows: 'Failed traces of the last 15 minutes.' },
    { line: 'svc trace list --min 100ms --sort duration', shows: 'Slow traces, the slowest first.' },
    {
      line: 'svc trace list --attr function_id=orders::create --json',
      shows: 'The traces of one function, for a script.',
    },
  ],
  exitCodes: LIST_EXIT_CODES,
  async run(context) {
    const { flags, terminal } = context;
    return await showList(context, { what: 'traces' }, async (engine) => {
      const query = {
        ...traceQuery(flags),
        ...timeRange(flags, terminal.now()),
        sort_by: flags.sort,
        sort_order: flags.sort === 'start_time' || flags.sort === 'duration' ? 'desc' : 'asc',
        limit: flags.limit,
      };
      const answer = await engine.call('engine::traces::list', query).catch((error: unknown) => {
        throw explainNoMemory(error);
      });
      const rows = recordsIn(answer, 'spans').map(readTraceRow);
      const total = isRecord(answer) ? (numberIn(answer, 'total') ?? rows.length) : rows.length;
      return { columns: traceColumns(context), rows, total, none: 'No trace matches.' };
    });
  },
});

export const traceClear = defineCommand({
  name: 'trace clear',
  summary: 'Delete all traces that the engine keeps.',
  flags: { ...CONFIRM_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc trace clear --yes', shows: 'Deletes them.' },
    { line: 'svc trace clear --yes --json', shows: 'The same, with the answer of the engine.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    await confirm(context, 'Delete all traces, for all users?');
    const answer = await withEngine(context, (engine) => engine.call('engine::traces::clear', {}));
    context.output.printDocument(answer, 'All traces are deleted.');
    return EXIT.done;
  },
});

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

function traceColumns({ output, terminal }: { output: Output; terminal: Terminal }): readonly Column<TraceRow>[] {
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
