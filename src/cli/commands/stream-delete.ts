import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { groupOperand } from '../stream-operands.ts';

export const streamDelete = defineCommand({
  name: 'stream delete',
  summary: 'Delete an item; its subscribers are told.',
  operands: { usage: '<stream>/<group> <item>', min: 2, max: 2, help: 'The item.' },
  details: ['An item that is not there is deleted without a word.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc stream delete chat/room1 m1', shows: 'Deletes it; prints nothing.' },
    { line: 'svc stream delete -- chat/room1 -m1', shows: 'An item whose id begins with a dash.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { stream, group } = groupOperand(context.operands);
    const [, item = ''] = context.operands;
    await withEngine(context, (engine) => engine.stream(stream).group(group).delete(item));
    return EXIT.done;
  },
});
