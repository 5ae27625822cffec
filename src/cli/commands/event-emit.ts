import { readPayload } from '../call-payload.ts';
import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { type JsonRecord, recordsIn, textIn } from '../records.ts';
import type { Column } from '../table.ts';

export const eventEmit = defineCommand({
  name: 'event emit',
  summary: 'Publish an event and list the triggers it fires.',
  operands: {
    usage: '<name> [payload]',
    min: 1,
    max: 2,
    help: 'The topic of the event; its data as JSON, @file or -. Without it the data is null.',
  },
  details: ['Functions bound to the topic are called and not waited for. An event that nobody listens to is gone.'],
  flags: CONNECTION_FLAGS,
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: `svc event emit user.created '{"id":7}'`, shows: 'Fires everything bound to user.created or user.*.' },
    { line: 'svc event emit nightly.done --json', shows: 'The triggers it fires, for a script.' },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output, terminal } = context;
    const [topic, source] = operands;
    const given = source === undefined ? {} : { data: await readPayload(source, [], terminal) };
    const answer = await withEngine(context, (engine) => engine.call('engine::events::emit', { topic, ...given }));
    const records = recordsIn(answer, 'triggers');
    output.printRows({ columns: COLUMNS, rows: records, records });
    if (records.length === 0) output.note(`No trigger of this engine listens to ${topic}.`);
    return EXIT.done;
  },
});

const COLUMNS: readonly Column<JsonRecord>[] = ['trigger_type', 'function_id', 'id'].map((name) => ({
  name,
  text: (record: JsonRecord) => textIn(record, name),
}));
