import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { readJson } from '../call/call-payload.ts';
import { DATA_INPUT, groupOperand } from './stream-operands.ts';

export const streamSend = defineCommand({
  name: 'stream send',
  summary: 'Send a custom event to the subscribers of a group.',
  operands: {
    usage: '<stream>/<group> <type> <json>',
    min: 3,
    max: 3,
    help: 'The type of the event and its data as JSON; @file reads a file, - reads stdin.',
  },
  flags: {
    item: { kind: 'text', placeholder: '<item>', help: 'The item that the event is about.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['json', 'jsonl'],
  examples: [
    { line: `svc stream send chat/room1 typing '{"who":"ann"}'`, shows: 'Notifies every subscriber of the group.' },
    { line: `svc stream send chat/room1 seen true --item m1`, shows: 'Also notifies subscribers of this item only.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { stream, group } = groupOperand(context.operands);
    const [, type = '', source = ''] = context.operands;
    const data = await readJson(source, DATA_INPUT, context.terminal);
    await withEngine(context, (engine) => engine.stream(stream).group(group).send(type, data, context.flags.item));
    return EXIT.done;
  },
});
