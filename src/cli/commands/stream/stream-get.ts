import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { groupOperand } from './stream-operands.ts';

export const streamGet = defineCommand({
  name: 'stream get',
  summary: 'Print the data of an item.',
  operands: { usage: '<stream>/<group> <item>', min: 2, max: 2, help: 'The item. Prints null if it does not exist.' },
  flags: { ...CONNECTION_FLAGS },
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc stream get chat/room1 topic', shows: 'Its data as JSON.' },
    { line: 'svc stream get chat/room1 topic -o jsonl', shows: 'The same on one line.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { stream, group } = groupOperand(context.operands);
    const [, item = ''] = context.operands;
    const value = await withEngine(context, (engine) => engine.stream(stream).group(group).get(item), {
      printsValues: true,
    });
    context.output.printJson(value);
    return EXIT.done;
  },
});
