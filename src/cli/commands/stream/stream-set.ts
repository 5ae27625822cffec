import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { readJson } from '../call/call-payload.ts';
import { DATA_INPUT, groupOperand } from './stream-operands.ts';

export const streamSet = defineCommand({
  name: 'stream set',
  summary: 'Write an item and notify its subscribers.',
  operands: {
    usage: '<stream>/<group> <item> <json>',
    min: 3,
    max: 3,
    help: 'The item and its data as JSON; @file reads a file, - reads stdin.',
  },
  flags: { ...CONNECTION_FLAGS },
  formats: ['json', 'jsonl'],
  examples: [
    { line: `svc stream set chat/room1 m1 '{"text":"hello"}'`, shows: 'Writes it; prints nothing.' },
    { line: 'svc stream set chat/room1 m1 @message.json', shows: 'Reads the data from a file.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { stream, group } = groupOperand(context.operands);
    const [, item = '', source = ''] = context.operands;
    const data = await readJson(source, DATA_INPUT, context.terminal);
    await withEngine(context, (engine) => engine.stream(stream).group(group).set(item, data));
    return EXIT.done;
  },
});
