import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { inPages } from '../../text/list-pages.ts';
import { recordsIn, textIn } from '../../text/records.ts';

export const streamList = defineCommand({
  name: 'stream list',
  summary: 'List the streams and how many groups each has.',
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc stream list', shows: 'Every stream that has items.' },
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
    if (records.length === 0) context.output.note('No stream has items.');
    return EXIT.done;
  },
});
