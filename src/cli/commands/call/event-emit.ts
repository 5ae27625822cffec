import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { type JsonRecord, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { readPayload } from './call-payload.ts';

export const eventEmit = defineCommand({
  name: 'event emit',
  summary: 'Publish an event and list the triggers it fires.',
  operands: {
    usage: '<name> [payload]',
    min: 1,
    max: 2,
    help: 'The topic of the event, and its data as JSON, @file or -. Without data: null.',
  },
  details: ['Functions bound to the topic are called without waiting for them. An event without triggers is dropped.'],
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
    if (records.length === 0) output.note(`No trigger of this engine is bound to ${topic}.`);
    return EXIT.done;
  },
});

const COLUMNS: readonly Column<JsonRecord>[] = ['trigger_type', 'function_id', 'id'].map((name) => ({
  name,
  text: (record: JsonRecord) => textIn(record, name),
}));
