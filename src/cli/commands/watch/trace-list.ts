import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { isRecord, numberIn, recordsIn } from '../../text/records.ts';
import { explainNoMemory } from './spans.ts';
import { readTraceRow, TRACE_FILTER_FLAGS, timeRange, traceColumns, traceQuery } from './trace-rows.ts';

export const traceList = defineCommand({
  name: 'trace list',
  summary: 'List the traces that the engine keeps, newest first.',
  details: [
    'A trace must match all filters. Show a trace with svc trace show <id>; the first digits of its id are enough.',
  ],
  flags: {
    ...TRACE_FILTER_FLAGS,
    since: { kind: 'text', placeholder: '<time>', help: 'Only traces after this time: 15m, an ISO time, Unix ms.' },
    until: { kind: 'text', placeholder: '<time>', help: 'Only traces before this time.' },
    sort: {
      kind: 'choice',
      placeholder: '<field>',
      choices: ['start_time', 'duration', 'name', 'service_name'],
      fallback: 'start_time',
      help: 'Latest first, longest first, or alphabetical.',
    },
    limit: {
      kind: 'count',
      short: 'n',
      placeholder: '<n>',
      min: 1,
      max: 1_000,
      fallback: '50',
      help: 'Largest number of traces.',
    },
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
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, output, terminal } = context;
    const query = {
      ...traceQuery(flags),
      ...timeRange(flags, terminal.now()),
      sort_by: flags.sort,
      sort_order: flags.sort === 'start_time' || flags.sort === 'duration' ? 'desc' : 'asc',
      limit: flags.limit,
    };
    const answer = await withEngine(context, async (engine) => {
      try {
        return await engine.call('engine::traces::list', query);
      } catch (error) {
        throw explainNoMemory(error);
      }
    });
    const rows = recordsIn(answer, 'spans').map(readTraceRow);
    output.printRows({ columns: traceColumns(context), rows, records: rows });
    const total = isRecord(answer) ? (numberIn(answer, 'total') ?? rows.length) : rows.length;
    if (rows.length === 0) output.note('No trace matches.');
    else if (total > rows.length) output.note(`${rows.length} of ${total} traces. More with -n.`);
    return EXIT.done;
  },
});
