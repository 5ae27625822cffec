import { readJson } from '../call-payload.ts';
import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { DATA_INPUT, groupOperand } from '../stream-operands.ts';

export const streamSet = defineCommand({
  name: 'stream set',
  summary: 'Write an item; its subscribers are told.',
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
    { line: 'svc stream set chat/room1 m1 @message.json', shows: 'The data from a file.' },
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
