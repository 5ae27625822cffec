import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { type JsonRecord, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';

export const triggersList = defineCommand({
  name: 'triggers list',
  summary: 'List the triggers, with their state.',
  flags: {
    type: { kind: 'text', placeholder: '<type>', help: 'Only triggers of this type: http, cron, event, …' },
    function: { kind: 'text', placeholder: '<id>', help: 'Only triggers that call this function.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc triggers list --type cron -o wide', shows: 'The next and the last run of each cron trigger.' },
    {
      line: 'svc triggers list --function orders::create --json',
      shows: 'The triggers of that function, for a script.',
    },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, output } = context;
    const answer = await withEngine(context, (engine) =>
      engine.call('engine::registered-triggers::list', {
        ...(flags.type === undefined ? {} : { trigger_type: flags.type }),
        ...(flags.function === undefined ? {} : { function_id: flags.function }),
      }),
    );
    const records = recordsIn(answer, 'registered_triggers');
    output.printRows({ columns: COLUMNS, rows: records, records });
    if (records.length === 0) output.note(emptyNote(flags));
    return EXIT.done;
  },
});

const COLUMNS: readonly Column<JsonRecord>[] = [
  { name: 'type', text: field('trigger_type') },
  { name: 'function_id', cut: 'middle', text: field('function_id') },
  { name: 'config', cut: 'end', text: field('config_summary') },
  { name: 'status', text: field('status') },
  { name: 'id', cut: 'middle', text: field('id') },
  { name: 'next_fire_time', wideOnly: true, text: field('next_fire_time') },
  { name: 'last_fired_at', wideOnly: true, text: field('last_fired_at') },
  { name: 'worker', wideOnly: true, text: field('worker_name') },
  { name: 'error', wideOnly: true, cut: 'end', text: field('error') },
];

function field(name: string): (record: JsonRecord) => string {
  return (record) => textIn(record, name);
}

function emptyNote(flags: { type: string | undefined; function: string | undefined }): string {
  if (flags.type === undefined && flags.function === undefined) return 'No worker has registered a trigger yet.';
  return 'No trigger matches. Omit --type and --function to list all triggers.';
}
