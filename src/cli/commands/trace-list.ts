import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { isRecord, numberIn, recordsIn } from '../records.ts';
import { explainNoMemory } from '../spans.ts';
import { readTraceRow, TRACE_FILTER_FLAGS, timeRange, traceColumns, traceQuery } from '../trace-rows.ts';

export const traceList = defineCommand({
  name: 'trace list',
  summary: 'List the traces that the engine keeps, the newest first.',
  details: ['All filters must hold. Show one of them with svc trace show <id>; the beginning of its id is enough.'],
  flags: {
    ...TRACE_FILTER_FLAGS,
    since: { kind: 'text', placeholder: '<time>', help: 'Only traces since then: 15m, an ISO time, Unix ms.' },
    until: { kind: 'text', placeholder: '<time>', help: 'Only traces until then.' },
    sort: {
      kind: 'choice',
      placeholder: '<field>',
      choices: ['start_time', 'duration', 'name', 'service_name'],
      fallback: 'start_time',
      help: 'The latest, the longest, or by the alphabet.',
    },
    limit: {
      kind: 'count',
      short: 'n',
      placeholder: '<n>',
      min: 1,
      max: 1_000,
      fallback: '50',
      help: 'At most so many.',
    },
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc trace list --status error --since 15m', shows: 'What failed in the last quarter of an hour.' },
    { line: 'svc trace list --min 100ms --sort duration', shows: 'The slow ones, the slowest first.' },
    { line: 'svc trace list --attr function_id=orders::create --json', shows: 'Those of one function, for a script.' },
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
