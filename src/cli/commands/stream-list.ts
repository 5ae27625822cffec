import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { inPages } from '../list-pages.ts';
import { recordsIn, textIn } from '../records.ts';

export const streamList = defineCommand({
  name: 'stream list',
  summary: 'List the streams and how many groups each has.',
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc stream list', shows: 'Every stream that holds something.' },
    { line: 'svc stream list --json', shows: 'With the names of their groups.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const records = await withEngine(context, (engine) =>
      inPages(async (page) => recordsIn(await engine.call('stream::list_all', page), 'stream')),
    );
    context.output.printRows({
      columns: [
        { name: 'stream', cut: 'middle', text: (stream) => textIn(stream, 'id') },
        { name: 'groups', align: 'right', text: ({ groups }) => String(Array.isArray(groups) ? groups.length : 0) },
      ],
      rows: records,
      records,
    });
    if (records.length === 0) context.output.note('No stream holds anything.');
    return EXIT.done;
  },
});
