// `svc runs`: the runs of one function, as its page in the console lists them.

import { explainRetention } from '../../../core/telemetry/records/retention.ts';
import { LIST_EXIT_CODES, listFlags, showList, timeRangeFlags } from '../../engine/listing.ts';
import { defineCommand } from '../../kernel/command.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import type { Output } from '../../text/output.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import type { Terminal } from '../../text/terminal.ts';
import { formatDuration, formatTime } from '../../text/times.ts';
import { explainNoMemory, readRetention, shortTime } from './spans.ts';
import { timeRange } from './trace-list.ts';

export const runs = defineCommand({
  name: 'runs',
  summary: 'List the runs of a function, newest first.',
  operands: { usage: '<function>', min: 1, max: 1, help: 'The id of the function.', kinds: ['function'] },
  details: [
    'A run is one call of the function, as the engine observed it: how it was called, where it ran, how it ended. ' +
      'Show its trace with svc trace show <trace>; the first digits are enough.',
  ],
  flags: {
    status: {
      kind: 'choice',
      placeholder: '<status>',
      choices: ['ok', 'error', 'pending'],
      help: 'Only runs in this state.',
    },
    errors: { kind: 'switch', help: 'The same as --status error.' },
    ...timeRangeFlags('runs'),
    ...listFlags('runs', { fallback: 50, max: 1_000 }),
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc runs orders::create', shows: 'Its newest runs.' },
    { line: 'svc runs orders::create --errors --since 1h', shows: 'Those that failed within the last hour.' },
    { line: 'svc runs orders::create -n 1 --json', shows: 'The last run, for a script.' },
  ],
  exitCodes: LIST_EXIT_CODES,
  async run(context) {
    const { flags, operands, output, terminal } = context;
    const [functionId = ''] = operands;
    return await showList(context, { what: 'runs' }, async (engine) => {
      const query = {
        function_id: functionId,
        status: flags.errors ? 'error' : flags.status,
        ...timeRange(flags, terminal.now()),
        limit: flags.limit,
      };
      const answer = await engine.call('engine::traces::runs', query).catch((error: unknown) => {
        throw explainNoMemory(error);
      });
      const rows = recordsIn(answer, 'runs');
      const total = isRecord(answer) ? (numberIn(answer, 'total') ?? rows.length) : rows.length;
      const retention = readRetention(answer);
      const reasons = retention === undefined ? [] : explainRetention('traces', retention, shortTime);
      return { columns: columnsOf(output, terminal), rows, total, none: ['No run matches.', ...reasons].join(' ') };
    });
  },
});

function columnsOf(output: Output, terminal: Terminal): readonly Column<JsonRecord>[] {
  const nowMs = terminal.now();
  const isShort = output.format === 'table' && terminal.out.isTerminal;
  return [
    {
      name: 'started',
      text: (run) => formatTime(numberIn(run, 'started_ms') ?? 0, output.timeStyle, nowMs),
      raw: (run) => new Date(Math.floor(numberIn(run, 'started_ms') ?? 0)).toISOString(),
    },
    { name: 'status', text: (run) => STATUS_WORDS[textIn(run, 'status')] ?? '', raw: (run) => textIn(run, 'status') },
    {
      name: 'duration',
      align: 'right',
      text: (run) => formatDuration(numberIn(run, 'duration_ms') ?? 0),
      raw: (run) => String(numberIn(run, 'duration_ms') ?? ''),
    },
    { name: 'trigger', text: triggerText },
    { name: 'worker', cut: 'middle', text: (run) => textIn(run, 'worker') },
    { name: 'attempt', align: 'right', wideOnly: true, text: (run) => String(numberIn(run, 'attempt') ?? '') },
    { name: 'input', align: 'right', text: (run) => bytesText(numberIn(run, 'input_bytes')) },
    { name: 'output', align: 'right', text: (run) => bytesText(numberIn(run, 'output_bytes')) },
    { name: 'error', cut: 'end', text: (run) => textIn(run, 'error') },
    { name: 'trace', text: (run) => textIn(run, 'trace_id').slice(0, isShort ? 16 : undefined) },
  ];
}

const STATUS_WORDS: Readonly<Record<string, string>> = { ok: 'OK', error: 'Error', pending: 'Running' };

/** A job with its queue, and its attempt where that is not the first. */
function triggerText(run: JsonRecord): string {
  const queue = textIn(run, 'queue');
  const attempt = numberIn(run, 'attempt') ?? 1;
  if (queue !== '') return `queue ${queue}${attempt > 1 ? ` (attempt ${attempt})` : ''}`;
  return textIn(run, 'trigger') || 'call';
}

function bytesText(bytes: number | undefined): string {
  return bytes === undefined ? '' : `${bytes} B`;
}
