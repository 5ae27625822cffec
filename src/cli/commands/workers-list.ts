import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { formatTime, type TimeStyle } from '../durations.ts';
import { EXIT } from '../exit-codes.ts';
import { type JsonRecord, numberIn, recordsIn, textIn } from '../records.ts';
import type { Column } from '../table.ts';

export const workersList = defineCommand({
  name: 'workers list',
  summary: 'List the workers.',
  details: ['Modules of the engine are workers, too; their runtime is engine. svc worker list is the same command.'],
  flags: {
    search: { kind: 'text', placeholder: '<text>', help: 'Only workers whose name or id contains the text.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc workers list', shows: 'Name, state, functions and calls in flight.' },
    { line: 'svc workers list -o wide --time utc', shows: 'With ids, addresses and exact times.' },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, output, terminal } = context;
    const answer = await withEngine(context, (engine) =>
      engine.call('engine::workers::list', flags.search === undefined ? {} : { search: flags.search }),
    );
    const records = recordsIn(answer, 'workers');
    output.printRows({ columns: columns(output.timeStyle, terminal.now()), rows: records, records });
    if (records.length === 0) output.note('No worker is connected.');
    return EXIT.done;
  },
});

function columns(timeStyle: TimeStyle, nowMs: number): readonly Column<JsonRecord>[] {
  return [
    { name: 'name', cut: 'middle', text: (record) => textIn(record, 'name') || '(unnamed)', raw: field('name') },
    { name: 'status', text: field('status') },
    { name: 'functions', align: 'right', text: field('function_count') },
    { name: 'in_flight', align: 'right', text: field('active_invocations') },
    {
      name: 'connected',
      text: (record) => showTime(numberIn(record, 'connected_at_ms'), (ms) => formatTime(ms, timeStyle, nowMs)),
      raw: (record) => showTime(numberIn(record, 'connected_at_ms'), (ms) => new Date(ms).toISOString()),
    },
    { name: 'runtime', text: field('runtime') },
    { name: 'version', text: field('version') },
    { name: 'id', wideOnly: true, text: field('id') },
    { name: 'ip_address', wideOnly: true, text: field('ip_address') },
    { name: 'os', wideOnly: true, text: field('os') },
    { name: 'description', wideOnly: true, cut: 'end', text: field('description') },
  ];
}

function field(name: string): (record: JsonRecord) => string {
  return (record) => textIn(record, name);
}

function showTime(unixMs: number | undefined, format: (unixMs: number) => string): string {
  return unixMs === undefined ? '' : format(unixMs);
}
