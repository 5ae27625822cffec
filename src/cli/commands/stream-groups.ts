import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';

export const streamGroups = defineCommand({
  name: 'stream groups',
  summary: 'List the groups of a stream.',
  operands: { usage: '<stream>', min: 1, max: 1, help: 'The stream.', kinds: ['stream'] },
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc stream groups chat', shows: 'The groups that hold something.' },
    { line: 'svc stream groups chat --json', shows: 'As a JSON list.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [stream = ''] = context.operands;
    const groups = await withEngine(context, (engine) => engine.stream(stream).groups());
    const records = groups.map((group) => ({ group }));
    context.output.printRows({
      columns: [{ name: 'group', cut: 'middle', text: ({ group }) => group }],
      rows: records,
      records,
    });
    if (records.length === 0) context.output.note('No group of it holds anything.');
    return EXIT.done;
  },
});
