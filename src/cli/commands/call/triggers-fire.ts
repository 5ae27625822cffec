import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { isRecord, textIn } from '../../text/records.ts';
import { readPayload } from './call-payload.ts';

export const triggersFire = defineCommand({
  name: 'triggers fire',
  summary: 'Fire a trigger immediately.',
  operands: {
    usage: '<id> [payload]',
    min: 1,
    max: 2,
    help: 'The id, from svc triggers list; the payload as JSON, @file or -.',
    kinds: ['trigger'],
  },
  details: [
    'The condition is checked and the function called once, without waiting for its result. Without a payload the ' +
      'function gets what the trigger would send: from a cron trigger, the scheduled time.',
  ],
  flags: CONNECTION_FLAGS,
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc triggers fire 7c9e6679-7425-40de-944b-e07fc1f90ae7', shows: 'Runs a nightly job immediately.' },
    { line: `svc triggers fire 7c9e6679-7425-40de-944b-e07fc1f90ae7 '{"day":3}'`, shows: 'The same with a payload.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [id, source] = context.operands;
    const given = source === undefined ? {} : { payload: await readPayload(source, [], context.terminal) };
    const answer = await withEngine(context, (engine) => engine.call('engine::triggers::fire', { id, ...given }));
    context.output.printJson(answer);
    if (isRecord(answer))
      context.output.note(`fired ${textIn(answer, 'trigger_type')}: ${textIn(answer, 'function_id')}`);
    return EXIT.done;
  },
});
