import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { inPages } from '../../text/list-pages.ts';
import { groupOperand } from './stream-operands.ts';

export const streamItems = defineCommand({
  name: 'stream items',
  summary: 'List the items of a group.',
  operands: { usage: '<stream>/<group>', min: 1, max: 1, help: 'The group.' },
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc stream items chat/room1', shows: 'Ids and data.' },
    { line: 'svc stream items chat/room1 -o jsonl', shows: 'One {id, data} per line.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { stream, group } = groupOperand(context.operands);
    const items = await withEngine(
      context,
      (engine) => inPages(async (page) => [...(await engine.stream(stream).group(group).list(page))]),
      { printsValues: true },
    );
    const records = items.map(([id, data]) => ({ id, data }));
    context.output.printRows({
      columns: [
        { name: 'item', cut: 'middle', text: ({ id }) => id },
        { name: 'data', cut: 'end', text: ({ data }) => JSON.stringify(data) },
      ],
      rows: records,
      records,
    });
    if (records.length === 0) context.output.note('The group is empty.');
    return EXIT.done;
  },
});
