import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { groupOperand } from './stream-operands.ts';

export const streamDelete = defineCommand({
  name: 'stream delete',
  summary: 'Delete an item and notify its subscribers.',
  operands: { usage: '<stream>/<group> <item>', min: 2, max: 2, help: 'The item.' },
  details: ['Deleting an item that does not exist is not an error.'],
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
